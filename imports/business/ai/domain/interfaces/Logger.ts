/**
 * Receives what operators may want to know, such as failures that ended nothing, and retries. `console` is one.
 * Messages contain no secrets; details may contain causes and stacks.
 */
export interface Logger {
  /** Each step of the work: retries, and the duration of model calls. */
  debug(message: string, ...details: unknown[]): void;
  info(message: string, ...details: unknown[]): void;
  warn(message: string, ...details: unknown[]): void;
  error(message: string, ...details: unknown[]): void;
}
