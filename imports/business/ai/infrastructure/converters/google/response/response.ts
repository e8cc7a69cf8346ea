/**
 * Converts a `GenerateContentResponse`, complete or assembled from a stream.
 * https://ai.google.dev/api/generate-content#GenerateContentResponse
 */
import { errorDetails, parseEnvelope, blockReasonOf, modelOf, namingOf } from './responseEnvelope';
import { assembleGoogle } from '../stream/GoogleAssembly';
import { withCitations } from './citations';
import { toItems, groupParts } from './items';
import { FILTERED, outcomeOf } from './outcome';
import { usageOf, withGrounding, withStorage } from '../usage';
import type { ResponseContext } from '../../Wire';
import { outputTextOf } from '../../../../domain/entities/Response';
import { LLMServerError, LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { LLMResponse, ResponseVendor } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/**
 * @param body the parsed JSON; an array is a stream that was requested without `alt=sse`
 * @throws LLMStreamError for a body in another format, LLMServerError for a failed response (available as `response`),
 *   or the error in a body that was sent with status 200
 */
export function fromGoogle(body: unknown, context: ResponseContext): LLMResponse {
  return toResponse(parseEnvelope(Array.isArray(body) ? assembleGoogle(body, context) : body, context), context);
}

function toResponse(body: JsonObject, context: ResponseContext): LLMResponse {
  const candidates = Array.isArray(body.candidates) ? body.candidates : [];
  const candidate: unknown = candidates[0];
  const blocked = blockReasonOf(body);
  if (!isObject(candidate) && blocked === undefined) {
    throw new LLMStreamError('The response has neither a candidate nor a blockReason.', errorDetails(context));
  }
  const warnings = [...context.warnings];
  const finish = (isObject(candidate) ? finishReasonOf(candidate.finishReason) : undefined) ?? blocked;
  const outcome = isObject(candidate) ? outcomeOf(finish, blocked, warnings) : FILTERED;
  if (candidates.length > 1)
    warnings.push(`The response has ${candidates.length} candidates, of which only the first is used.`);

  const naming = namingOf(body, context);
  const parts = partsOf(candidate, context);
  const items = toItems(groupParts(parts), naming, outcome.status === 'incomplete' ? 'incomplete' : 'completed');
  const output = isObject(candidate) ? withCitations(items, candidate) : items;
  const response: LLMResponse = {
    id: naming.seed,
    object: 'response',
    created_at: createdAt(body.createTime) ?? context.receivedAt,
    status: outcome.status,
    ...(outcome.status === 'incomplete' ? { incomplete_details: { reason: outcome.reason } } : {}),
    model: modelOf(body, context),
    output,
    output_text: outputTextOf(output),
    usage: withStorage(
      withGrounding(usageOf(body.usageMetadata, warnings), candidate, body.usageMetadata),
      context.storedTokenHours,
    ),
    ...(outcome.status === 'failed'
      ? { error: { code: finish ?? outcome.status, message: messageOf(candidate, outcome.message) } }
      : {}),
    vendor: vendorOf(body, candidates, finish, context, warnings),
  };
  if (outcome.status !== 'failed') return response;
  throw new LLMServerError(messageOf(candidate, outcome.message), {
    ...errorDetails(context),
    vendorCode: finish ?? outcome.status,
    retryable: outcome.retryable,
    response,
  });
}

/** Enums may also be written as numbers (https://protobuf.dev/programming-guides/json/). */
function finishReasonOf(finishReason: unknown): string | undefined {
  if (typeof finishReason === 'number') return String(finishReason);
  return typeof finishReason === 'string' && finishReason !== '' ? finishReason : undefined;
}

function partsOf(candidate: unknown, context: ResponseContext): readonly JsonObject[] {
  const content = isObject(candidate) ? candidate.content : undefined;
  const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
  if (!parts.every(isObject))
    throw new LLMStreamError('A part of the response is not a JSON object.', errorDetails(context));
  return parts;
}

function messageOf(candidate: unknown, fallback: string): string {
  const finishMessage = isObject(candidate) ? candidate.finishMessage : undefined;
  return typeof finishMessage === 'string' && finishMessage !== '' ? finishMessage : fallback;
}

/** Keeps the body without the first candidate's parts, so that the response can be written again as it was. */
function vendorOf(
  body: JsonObject,
  candidates: readonly unknown[],
  finish: string | undefined,
  context: ResponseContext,
  warnings: string[],
): ResponseVendor {
  const { usageMetadata, ...fields } = body;
  if (candidates.length > 0) fields.candidates = [withoutParts(candidates[0]), ...candidates.slice(1)];
  return omitUndefined({
    name: context.vendor,
    wire: 'gemini',
    finish_reason: finish ?? null,
    request_id: context.requestId,
    warnings,
    losses: context.losses,
    ...(isObject(usageMetadata)
      ? { usage: usageMetadata, fields }
      : { fields: usageMetadata === undefined ? fields : { ...fields, usageMetadata } }),
  });
}

function withoutParts(candidate: unknown): unknown {
  if (!isObject(candidate) || !isObject(candidate.content)) return candidate;
  const { parts, ...content } = candidate.content;
  return Array.isArray(parts) && parts.length > 0 ? { ...candidate, content } : candidate;
}

function createdAt(createTime: unknown): number | undefined {
  const time = typeof createTime === 'string' ? Date.parse(createTime) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.floor(time / 1_000);
}
