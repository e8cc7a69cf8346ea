/** Remembers what was logged. */
import type { Logger } from '../../imports/business/ai/domain/interfaces/Logger';

export class RecordingLogger implements Logger {
  readonly warnings: string[] = [];
  readonly errors: string[] = [];
  readonly details: unknown[] = [];

  warn(message: string, ...details: unknown[]): void {
    this.warnings.push(message);
    this.details.push(...details);
  }

  error(message: string, ...details: unknown[]): void {
    this.errors.push(message);
    this.details.push(...details);
  }
}
