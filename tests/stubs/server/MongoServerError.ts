/** The driver's error, reduced to its code and message. */
export class MongoServerError extends Error {
  override readonly name = 'MongoServerError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
