/** Meteor.Error, in a separate file because both check and the server throw it. */
export class MeteorError extends Error {
  readonly isClientSafe = true;
  readonly errorType = 'Meteor.Error';
  readonly error: string | number;
  readonly reason: string | undefined;
  readonly details: unknown;

  constructor(error: string | number, reason?: string, details?: unknown) {
    super(reason === undefined || reason === '' ? `[${error}]` : `${reason} [${error}]`);
    this.error = error;
    this.reason = reason;
    this.details = details;
  }

  clone(): MeteorError {
    return new MeteorError(this.error, this.reason, this.details);
  }
}
