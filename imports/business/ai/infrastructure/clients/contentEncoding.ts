/** Undoes the content encodings that hosts use although none was asked for. */
import { pipeline } from 'node:stream';
import type { IncomingMessage } from 'node:http';
import type { Readable, Transform } from 'node:stream';
import { constants, createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { LLMStreamError } from '../../domain/errors/LLMErrors';
import type { LLMErrorDetails } from '../../domain/errors/LLMErrors';

/** Every flush gives what can be decoded so far, so that streams don't wait; a body that ends early stays an error. */
const ZLIB = { flush: constants.Z_SYNC_FLUSH };
const BROTLI = { flush: constants.BROTLI_OPERATION_FLUSH };

const DECODERS: Readonly<Record<string, () => Transform>> = {
  gzip: () => createGunzip(ZLIB),
  'x-gzip': () => createGunzip(ZLIB),
  deflate: () => createInflate(ZLIB),
  br: () => createBrotliDecompress(BROTLI),
};

/**
 * The decoded body; destroys the message when decoding fails. An unknown encoding is an error when the body is
 * read.
 */
export function decodedBody(message: IncomingMessage, details: LLMErrorDetails): Readable {
  const encoding = (message.headers['content-encoding'] ?? 'identity').trim().toLowerCase();
  if (encoding === 'identity' || encoding === '') return message;
  const decoder = Object.hasOwn(DECODERS, encoding) ? DECODERS[encoding]?.() : undefined;
  if (decoder === undefined) {
    message.destroy(
      new LLMStreamError('the answer has a content encoding that is not understood', { ...details, retryable: false }),
    );
    return message;
  }
  // The decoder's own `error` event tells the reader what happened.
  return pipeline(message, decoder, () => undefined);
}
