/**
 * Where a host's operators read what went wrong without ending anything; `console` is one. Details may hold causes
 * and stacks.
 */
export interface Logger {
  warn(message: string, ...details: unknown[]): void;
  error(message: string, ...details: unknown[]): void;
}
