/** Remembers what was logged. */
import type { Logger } from '../../imports/business/ai/domain/interfaces/Logger';

export class RecordingLogger implements Logger {
  readonly debugs: string[] = [];
  readonly infos: string[] = [];
  readonly warnings: string[] = [];
  readonly errors: string[] = [];
  readonly details: unknown[] = [];

  debug(message: string, ...details: unknown[]): void {
    this.debugs.push(message);
    this.details.push(...details);
  }

  info(message: string, ...details: unknown[]): void {
    this.infos.push(message);
    this.details.push(...details);
  }

  warn(message: string, ...details: unknown[]): void {
    this.warnings.push(message);
    this.details.push(...details);
  }

  error(message: string, ...details: unknown[]): void {
    this.errors.push(message);
    this.details.push(...details);
  }
}
