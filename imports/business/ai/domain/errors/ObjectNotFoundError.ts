/** The request names an object that does not exist, or that its caller may not use: nobody learns which of the two. */
import { LLMInvalidRequestError } from './LLMErrors';

export class ObjectNotFoundError extends LLMInvalidRequestError {
  /** `error.details.error_code` of Anthropic's API, by which its SDK tells errors apart. */
  readonly errorCode?: string;

  constructor(message: string, { path, errorCode }: { readonly path?: string; readonly errorCode?: string } = {}) {
    super(message, path === undefined ? {} : { path });
    if (errorCode !== undefined) this.errorCode = errorCode;
  }

  override get httpStatus(): number {
    return 404;
  }
}
