/** The options with which every route of the gateway calls a model while its client waits. */
import type { GuardrailAnnotation } from '../../business/ai/domain/types/GuardrailAnnotation';
import type { AnswerHead, GenerateOptions } from '../../business/ai/domain/types/LLMTypes';
import type { CallOrigin } from '../../business/ai/domain/types/RequestRecords';
import type { ServedWire } from '../../business/ai/domain/types/VendorTypes';
import type { Logger } from '../../business/ai/domain/interfaces/Logger';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import { hasScope, tokenOrigin } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { GUARDRAILS_HEADER, guardrailsHeader } from './guardrailsHeader';
import { cacheHeaders, readCacheHeader } from './cacheHeader';
import { forwardVendorHeaders } from '../http/forwardVendorHeaders';
import type { RequestContext } from '../http/RequestContext';
import { rateLimitHeaders } from '../http/rateLimitHeaders';
import { servedHeaders } from './servedHeaders';
import { describeLoss, WARNINGS_HEADER, warningsHeader } from '../http/warningsHeader';

export interface VendorCallPorts {
  /** Receives what requests could not be sent with, at the level info. */
  readonly logger: Logger;
  /** Milliseconds from the start of a call within which retries start. Longer pauses are left to the client. */
  readonly maxRetryTime: number;
}

export type VendorCall = Pick<
  GenerateOptions,
  | 'signal'
  | 'maxRetryTime'
  | 'onAttempt'
  | 'onHead'
  | 'onRetry'
  | 'origin'
  | 'cache'
  | 'onCache'
  | 'onRateLimits'
  | 'onAnnotation'
>;

/**
 * @param wire the API that the client speaks
 * @param onAnswer called when the vendor has accepted the request, before its response is read
 * @param known what is to be reported with what the vendor is not sent
 * @throws HttpError 400 for an invalid header
 */
export function vendorCall(
  context: RequestContext,
  wire: ServedWire,
  { maxRetryTime, logger }: VendorCallPorts,
  onAnswer?: () => void,
  known: readonly string[] = [],
): VendorCall {
  const { response, principal, requestId, details } = context;
  const cache = readCacheHeader(context.request);
  const forward = forwardVendorHeaders(context, wire);
  const fallbacks: string[] = [];
  const annotations: GuardrailAnnotation[] = [];
  let limitHeaders = details.rateLimits === undefined ? {} : rateLimitHeaders(wire, details.rateLimits);
  details.isCalled = true;
  return {
    origin: gatewayOrigin(wire, principal, { ...details, requestId }),
    signal: context.signal,
    ...(cache === undefined ? {} : { cache, onCache: (lookup) => void response.set(cacheHeaders(lookup)) }),
    maxRetryTime,
    onRateLimits: (state) => {
      limitHeaders = rateLimitHeaders(wire, state);
      if (!response.headersSent) response.set(limitHeaders);
    },
    onAttempt: servedHeaders(response),
    onAnnotation: (annotation) => {
      annotations.push(annotation);
      if (!response.headersSent) response.set(GUARDRAILS_HEADER, guardrailsHeader(annotations));
    },
    onHead: (head) => {
      forward(head);
      // The token's limits replace those that the vendor has sent under the same names.
      if (!response.headersSent) response.set(limitHeaders);
      const warnings = [...known, ...fallbacks, ...changesIn(head)];
      // A keep-alive message may have sent the headers already.
      if (!response.headersSent) {
        if (warnings.length === 0) response.removeHeader(WARNINGS_HEADER);
        else response.set(WARNINGS_HEADER, warningsHeader(warnings));
      }
      logChanges(logger, warnings, { requestId, userId: principal.userId, providerId: details.provider });
      onAnswer?.();
    },
    onRetry: ({ providerId, reason, fallback }) => {
      details.retriedWithinMs = maxRetryTime;
      if (fallback !== undefined)
        fallbacks.push(`The provider "${providerId}" failed (${reason}); "${fallback}" was called instead.`);
    },
  };
}

/** Where a call comes from, for the request log. */
export function gatewayOrigin(
  api: string,
  principal: ApiPrincipal,
  { model, requestId }: { readonly model?: string | undefined; readonly requestId?: string },
): CallOrigin {
  return omitUndefined({
    source: 'gateway',
    api,
    ...tokenOrigin(principal),
    // Admins own the vendors' accounts.
    ownObjectsOnly: hasScope(principal, 'admin') ? undefined : true,
    requestedModel: model,
    httpRequestId: requestId,
  });
}

/** What the vendor was sent differently, or not at all, as sentences. */
export function changesIn({ warnings = [], losses = [] }: AnswerHead): readonly string[] {
  return [...warnings, ...losses.map(describeLoss)];
}

/** A request can have a change for each of its values. */
const MAX_LOGGED = 20;

export function logChanges(logger: Logger, changes: readonly string[], facts: object): void {
  if (changes.length === 0) return;
  const more = changes.length > MAX_LOGGED ? ` … and ${changes.length - MAX_LOGGED} more.` : '';
  logger.info(`A request was changed for its provider: ${changes.slice(0, MAX_LOGGED).join(' ')}${more}`, facts);
}
