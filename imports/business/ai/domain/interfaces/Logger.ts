/**
 * Receives what went wrong without ending anything, for the operators of the host; `console` is one. Details may
 * contain causes and stacks.
 */
export interface Logger {
  warn(message: string, ...details: unknown[]): void;
  error(message: string, ...details: unknown[]): void;
}
