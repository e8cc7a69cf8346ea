/** Reads the body of a request, decompressed. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import { createBrotliDecompress, createGunzip, createInflate } from 'node:zlib';
import { HttpError } from './HttpError';
import type { HttpRequest } from './HttpMessages';

const DECODERS = new Map([
  ['br', createBrotliDecompress],
  ['deflate', createInflate],
  ['gzip', createGunzip],
  ['x-gzip', createGunzip],
]);

/**
 * @param maxBytes of the decompressed body
 * @returns what the app's own parser has made of the body, if it has one, or else a Buffer; undefined without a body
 * @throws HttpError for a body that is too large, as soon as that is known, for one that was cut, and for one that
 *   cannot be decompressed
 */
export async function readBody(request: HttpRequest, maxBytes: number): Promise<unknown> {
  if (request.body !== undefined || request.readableEnded || !hasBody(request)) return request.body;
  const encoding = (request.headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding === 'identity') return readBytes(request, request, maxBytes);
  const createDecoder = DECODERS.get(encoding);
  if (createDecoder === undefined)
    throw new HttpError(415, `The content-encoding is not supported. Use one of: ${[...DECODERS.keys()].join(', ')}.`);
  const decoder = createDecoder();
  try {
    return await readBytes(request.pipe(decoder), request, maxBytes);
  } finally {
    request.unpipe(decoder);
    decoder.destroy();
  }
}

export function hasBody({ headers }: Pick<IncomingMessage, 'headers'>): boolean {
  return (
    headers['transfer-encoding'] !== undefined ||
    (headers['content-length'] !== undefined && headers['content-length'] !== '0')
  );
}

export function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `The request body is larger than ${maxBytes} bytes.`);
}

/** @param source the request, or what decompresses it */
function readBytes(source: Readable, request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    source.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // The rest is dropped.
      chunks = [];
      reject(tooLarge(maxBytes));
    });
    source.once('end', () => {
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
    });
    const onCut = (): void => {
      if (!request.readableEnded) reject(new HttpError(400, 'The request was aborted.'));
    };
    request.once('error', onCut);
    request.once('close', onCut);
    if (source !== request)
      source.once('error', () => reject(new HttpError(400, 'The request body cannot be decompressed.')));
  });
}
