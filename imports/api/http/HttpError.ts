/** An error of the HTTP request itself, with a status that has no error code of its own (404, 405, 415, 421, …). */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';

export interface HttpErrorDetails {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
  readonly errorCode?: string;
}

export class HttpError extends LLMInvalidRequestError {
  private readonly responseStatus: number;
  /** Headers that the status requires, such as `allow` for 405. */
  readonly headers: Readonly<Record<string, string>>;
  /** `error.details.error_code` of Anthropic's API, by which its SDK tells errors apart. */
  readonly errorCode?: string;

  constructor(status: number, message: string, { headers = {}, path, errorCode }: HttpErrorDetails = {}) {
    super(message, path === undefined ? {} : { path });
    this.responseStatus = status;
    this.headers = headers;
    if (errorCode !== undefined) this.errorCode = errorCode;
  }

  override get httpStatus(): number {
    return this.responseStatus;
  }
}
