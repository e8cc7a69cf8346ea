/** The driver's error, of which the code and the message are known to its users. */
export class MongoServerError extends Error {
  override readonly name = 'MongoServerError';
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}
