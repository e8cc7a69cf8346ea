/** Puts before an answer what its vendor has put before it, for a client that speaks the vendor's own API. */
import type { Response } from 'express';
import type { AnswerHead } from '../../business/ai/domain/types/LLMTypes';
import type { WireName } from '../../business/ai/domain/types/VendorTypes';
import { requestIdHeaders } from './errorResponse';
import type { RequestContext } from './RequestContext';

/** @returns what is told of every attempt's answer: the last one counts, whoever gave it */
export function forwardVendorHeaders(
  {
    response,
    requestId,
  }: Pick<RequestContext, 'requestId'> & { readonly response: Pick<Response, 'headersSent' | 'removeHeader' | 'set'> },
  wire: WireName,
): (head: AnswerHead) => void {
  let shown: readonly string[] = [];
  return (head) => {
    // A stream that was kept alive has begun.
    if (response.headersSent) return;
    for (const name of shown) response.removeHeader(name);
    const isOwn = head.wire === wire;
    shown = isOwn ? Object.keys(head.headers) : [];
    response.set({
      ...(isOwn ? head.headers : {}),
      ...requestIdHeaders((isOwn ? head.requestId : undefined) ?? requestId),
    });
  };
}
