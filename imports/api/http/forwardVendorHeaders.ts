/** Forwards the vendor's response headers to a client that speaks the vendor's own API. */
import type { HttpResponse } from './HttpMessages';
import type { AnswerHead } from '../../business/ai/domain/types/LLMTypes';
import type { WireName } from '../../business/ai/domain/types/VendorTypes';
import { requestIdHeaders } from './errorResponse';
import type { RequestContext } from './RequestContext';

/** @returns the observer for the head of every attempt's response; the last one replaces the earlier ones */
export function forwardVendorHeaders(
  {
    response,
    requestId,
  }: Pick<RequestContext, 'requestId'> & {
    readonly response: Pick<HttpResponse, 'headersSent' | 'removeHeader' | 'set'>;
  },
  wire: WireName,
): (head: AnswerHead) => void {
  let forwarded: readonly string[] = [];
  return (head) => {
    // A keep-alive message may have sent the headers already.
    if (response.headersSent) return;
    for (const name of forwarded) response.removeHeader(name);
    const isSameWire = head.wire === wire;
    forwarded = isSameWire ? Object.keys(head.headers) : [];
    response.set({
      ...(isSameWire ? head.headers : {}),
      ...requestIdHeaders((isSameWire ? head.requestId : undefined) ?? requestId),
    });
  };
}
