/** Passes bodies on as they arrive, in both directions, at the pace of the slower side. */
import { once } from 'node:events';
import type { HttpRequest, HttpResponse } from '../../http/HttpMessages';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { RelayResponse } from '../../../business/ai/domain/types/RelayTypes';
import { HttpError } from '../../http/HttpError';
import { requestIdHeaders } from '../../http/errorResponse';
import type { RequestContext } from '../../http/RequestContext';

export interface Upload {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: AsyncIterable<Uint8Array>;
}

/**
 * A multipart body, which is not parsed.
 * @throws HttpError for another content type and a body that is too large
 */
export function uploadOf(request: HttpRequest, maxBytes: number): Upload {
  const contentType = request.headers['content-type'] ?? '';
  if (!/^multipart\/form-data\s*;.*boundary=/i.test(contentType))
    throw new HttpError(415, 'The body must be multipart/form-data with a boundary.');
  const length = request.headers['content-length'];
  if (length !== undefined && Number(length) > maxBytes) throw tooLarge(maxBytes);
  return {
    headers: omitUndefined({ 'content-type': contentType, 'content-length': length }),
    body: limited(request, maxBytes),
  };
}

async function* limited(request: HttpRequest, maxBytes: number): AsyncGenerator<Uint8Array, void, undefined> {
  let received = 0;
  try {
    // Leaving early must not close the connection, over which an error is still to be sent.
    for await (const chunk of request.iterator({ destroyOnReturn: false }) as AsyncIterable<Uint8Array>) {
      received += chunk.byteLength;
      if (received > maxBytes) throw tooLarge(maxBytes);
      yield chunk;
    }
  } finally {
    // What is left is dropped: clients read the response after they have sent everything.
    request.resume();
  }
}

function tooLarge(maxBytes: number): HttpError {
  return new HttpError(413, `The request body is larger than ${maxBytes} bytes.`);
}

/** Sends the head and the body of the vendor's response. */
export async function sendRelayed(context: RequestContext, relayed: RelayResponse): Promise<void> {
  const { response, signal } = context;
  setHead(context, relayed);
  const contentType = relayed.header('content-type');
  if (contentType !== null) response.setHeader('content-type', contentType);
  const length = relayed.header('content-length');
  // The body is decoded.
  if (length !== null && relayed.header('content-encoding') === null) response.setHeader('content-length', length);
  response.flushHeaders();
  for await (const chunk of relayed.body) {
    if (!response.write(chunk)) await drained(response, signal);
  }
  response.end();
}

async function drained(response: HttpResponse, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await once(response, 'drain', { signal }).catch((error: unknown) => {
    signal.throwIfAborted();
    throw error;
  });
}

/** Sets the status and the headers that the vendor's clients read. Browsers save the body instead of showing it. */
export function setHead({ response, requestId }: RequestContext, relayed: RelayResponse): void {
  response.status(relayed.status);
  response.set({
    ...relayed.passthroughHeaders,
    ...requestIdHeaders(relayed.requestId ?? requestId),
    'content-disposition': `attachment${fileNamesIn(relayed.header('content-disposition') ?? '')}`,
  });
}

/** The well-formed file names of a `content-disposition` header (RFC 6266), as parameters. */
function fileNamesIn(disposition: string): string {
  const names = disposition.matchAll(/;\s*(filename\*?=(?:"[^"\\]*"|[\w!#$%&'+.^`|~-]+))/gi);
  return Array.from(names, ([, name]) => `; ${name ?? ''}`).join('');
}
