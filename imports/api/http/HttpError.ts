/**
 * What is wrong with an HTTP request before anything is asked of a model: statuses that the error family has no
 * code for.
 */
import { LLMInvalidRequestError } from '../../business/ai/domain/errors/LLMErrors';

export class HttpError extends LLMInvalidRequestError {
  private readonly doorStatus: number;
  /** Headers that the status demands, `allow` for 405. */
  readonly headers: Readonly<Record<string, string>>;

  constructor(
    status: number,
    message: string,
    { headers = {}, path }: { readonly headers?: Readonly<Record<string, string>>; readonly path?: string } = {},
  ) {
    super(message, path === undefined ? {} : { path });
    this.doorStatus = status;
    this.headers = headers;
  }

  override get httpStatus(): number {
    return this.doorStatus;
  }
}
