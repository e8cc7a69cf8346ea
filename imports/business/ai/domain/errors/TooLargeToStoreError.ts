/** Something that a caller sent, or received, takes more than is stored of it. It does not fail because of that. */
import { LLMInvalidRequestError } from './LLMErrors';

export class TooLargeToStoreError extends LLMInvalidRequestError {
  readonly bytes: number;
  readonly maxBytes: number;

  /** @param what begins a sentence, e.g. `The response, with its input,` */
  constructor(what: string, bytes: number, maxBytes: number) {
    super(`${what} takes ${megabytes(bytes)}, more than can be stored: ${megabytes(maxBytes)}.`);
    this.bytes = bytes;
    this.maxBytes = maxBytes;
  }
}

function megabytes(bytes: number): string {
  const value = bytes / 1_024 ** 2;
  return `${value < 10 ? Math.ceil(value * 10) / 10 : Math.ceil(value)} MB`;
}
