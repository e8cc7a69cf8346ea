/** The options with which every route of the gateway calls a model while its client waits. */
import type { GenerateOptions } from '../../business/ai/domain/types/LLMTypes';
import type { WireName } from '../../business/ai/domain/types/VendorTypes';
import { forwardVendorHeaders } from '../http/forwardVendorHeaders';
import type { RequestContext } from '../http/RequestContext';

export interface VendorCallLimits {
  /** Milliseconds from the start of a call within which retries start. Longer pauses are left to the client. */
  readonly maxRetryTime: number;
}

export type VendorCall = Pick<GenerateOptions, 'signal' | 'maxRetryTime' | 'onHead' | 'onRetry'>;

/**
 * @param wire the API that the client speaks
 * @param onAnswer called when the vendor has accepted the request, before its response is read
 */
export function vendorCall(
  context: RequestContext,
  wire: WireName,
  { maxRetryTime }: VendorCallLimits,
  onAnswer?: () => void,
): VendorCall {
  const forward = forwardVendorHeaders(context, wire);
  return {
    signal: context.signal,
    maxRetryTime,
    onHead: (head) => {
      forward(head);
      onAnswer?.();
    },
    onRetry: () => {
      context.details.retriedWithinMs = maxRetryTime;
    },
  };
}
