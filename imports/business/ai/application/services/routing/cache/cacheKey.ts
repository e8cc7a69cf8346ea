/** Identifies a request by everything that decides its answer. */
import { createHash } from 'node:crypto';
import { isObject } from '../../../../domain/util/json';
import type { GenerateOptions } from '../../../../domain/types/LLMTypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { normalizeInput } from '../../ContentNormalizer';
import { canonicalJson } from '../../../../domain/util/canonicalJson';

export interface CacheKeyContext {
  /** Where the request is sent, as far as that is known before the call. */
  readonly route: { readonly providerId: string; readonly model: string | undefined } | undefined;
  /** Changes when the same request is to be answered anew, such as with other guardrails. */
  readonly version: string;
}

/** Fields of vendors' APIs that make a response depend on, or change, what the vendor has stored. */
const STATEFUL_FIELDS = ['conversation', 'background', 'container', 'thread', 'previous_response_id'] as const;
/** Fields that request several answers at once. */
const COUNT_FIELDS = ['n', 'candidateCount', 'candidate_count'] as const;
/** Fields that only say how the answer is sent. */
const STREAM_FIELDS: ReadonlySet<string> = new Set(['stream', 'stream_options']);

/**
 * @returns undefined for a request that is never answered from the cache: one that continues or changes what a vendor
 *   has stored, has several answers, or lets the vendor run tools
 * @throws LLMInvalidRequestError for invalid input
 */
export function cacheKey(options: GenerateOptions, { route, version }: CacheKeyContext): string | undefined {
  const {
    input,
    signal,
    timeout,
    maxRetryTime,
    onHead,
    onRetry,
    onExchange,
    onBody,
    onAttempt,
    onSend,
    batch,
    backgroundTurn,
    compactedBy,
    background,
    onCache,
    onAnnotation,
    onRateLimits,
    cache,
    promptCache,
    relay,
    streamArguments,
    relayTo,
    origin,
    executionId,
    turn,
    providerId,
    vendor = {},
    ...decisive
  } = options;
  const fields = Object.entries(vendor).flatMap(([scheme, given]) =>
    isObject(given) ? [[scheme, given] as const] : [],
  );
  if (decisive.previous_response_id !== undefined || decisive.conversation !== undefined) return undefined;
  if (decisive.compact === true || decisive.hostedMcp !== undefined) return undefined;
  if (fields.some(([, given]) => isUncacheable(given))) return undefined;
  if (decisive.tools?.some(({ type }) => type !== 'function' && (type as string) !== 'custom') === true)
    return undefined;
  const request = {
    ...decisive,
    route,
    version,
    input: normalizeInput(input),
    vendor: Object.fromEntries(
      fields
        .map(([scheme, given]) => [scheme, withoutStreamFields(given)] as const)
        .filter(([, given]) => Object.keys(given).length > 0),
    ),
  };
  return createHash('sha256').update(canonicalJson(request)).digest('base64url');
}

function isUncacheable(fields: JsonObject): boolean {
  return (
    STATEFUL_FIELDS.some((name) => fields[name] !== undefined && fields[name] !== null && fields[name] !== false) ||
    COUNT_FIELDS.some((name) => typeof fields[name] === 'number' && fields[name] > 1)
  );
}

function withoutStreamFields(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([name]) => !STREAM_FIELDS.has(name)));
}
