/** Reads the body of a request that has no content encoding. */
import type { IncomingMessage } from 'node:http';
import { HttpError } from './HttpError';

/** @throws HttpError for a body that is too large, as soon as that is known, and for one that was cut */
export function readBytes(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    let chunks: Buffer[] = [];
    let size = 0;
    let hasEnded = false;
    request.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) {
        chunks.push(chunk);
        return;
      }
      // What is left is dropped.
      chunks = [];
      if (!hasEnded) reject(tooLarge(maxBytes));
      hasEnded = true;
    });
    request.once('end', () => {
      hasEnded = true;
      const [first] = chunks;
      resolve(chunks.length === 1 && first !== undefined ? first : Buffer.concat(chunks));
    });
    const onCut = (): void => {
      if (!hasEnded) reject(new HttpError(400, 'The request was aborted.'));
    };
    request.once('error', onCut);
    request.once('close', onCut);
  });
}

export function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `The request body is larger than ${maxBytes} bytes.`);
}
