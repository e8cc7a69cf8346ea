/**
 * A GenerateContentResponse (https://ai.google.dev/api/generate-content#GenerateContentResponse), whole or put
 * together from a stream, as a response.
 */
import { answerDetails, answerOf, blockReasonOf, modelOf, namingOf } from './responseEnvelope';
import { assembleGoogle } from '../stream/GoogleAssembly';
import { withCitations } from './citations';
import { itemsOfRuns, runsOf } from './items';
import type { ReplyContext } from '../../Wire';
import { NO_USAGE, outputTextOf } from '../../../../domain/entities/Response';
import { LLMServerError, LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/json';
import type { LLMResponse, ResponseVendor, Usage } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

type Ending =
  | { readonly status: 'completed' }
  | { readonly status: 'incomplete'; readonly reason: 'max_output_tokens' | 'content_filter' }
  | { readonly status: 'failed'; readonly says: string; readonly retryable: boolean };

const COMPLETED = { status: 'completed' } as const;
const FILTERED = { status: 'incomplete', reason: 'content_filter' } as const;

/** https://ai.google.dev/api/generate-content#FinishReason, and what Vertex AI adds to it. */
const ENDINGS: Readonly<Record<string, Ending>> = {
  STOP: COMPLETED,
  MAX_TOKENS: { status: 'incomplete', reason: 'max_output_tokens' },
  SAFETY: FILTERED,
  RECITATION: FILTERED,
  LANGUAGE: FILTERED,
  BLOCKLIST: FILTERED,
  PROHIBITED_CONTENT: FILTERED,
  SPII: FILTERED,
  MODEL_ARMOR: FILTERED,
  IMAGE_SAFETY: FILTERED,
  IMAGE_PROHIBITED_CONTENT: FILTERED,
  IMAGE_RECITATION: FILTERED,
  MALFORMED_FUNCTION_CALL: failed('The model wrote a function call that cannot be read.'),
  UNEXPECTED_TOOL_CALL: failed('The model called a tool that it was not offered.'),
  TOO_MANY_TOOL_CALLS: failed('The model called too many tools one after another.'),
  MISSING_THOUGHT_SIGNATURE: { ...failed('A thought signature is missing in the history.'), retryable: false },
  MALFORMED_RESPONSE: failed('The model wrote an answer that cannot be read.'),
  NO_IMAGE: failed('The model made no image although one was asked for.'),
  IMAGE_OTHER: failed('The model could not make the image.'),
  OTHER: failed('The model stopped for a reason that the vendor does not name.'),
};

function failed(says: string): Extract<Ending, { status: 'failed' }> {
  return { status: 'failed', says, retryable: true };
}

/**
 * @param body the parsed JSON of an answer; an array is a stream that was asked for without `alt=sse`
 * @throws LLMStreamError for what is not this wire's answer, LLMServerError for an answer that failed (`response`
 *   holds it), and whatever a
 * vendor's error inside a 200 body stands for
 */
export function fromGoogle(body: unknown, context: ReplyContext): LLMResponse {
  return respond(answerOf(Array.isArray(body) ? assembleGoogle(body, context) : body, context), context);
}

function respond(answer: JsonObject, context: ReplyContext): LLMResponse {
  const candidates = Array.isArray(answer.candidates) ? answer.candidates : [];
  const candidate: unknown = candidates[0];
  const blocked = blockReasonOf(answer);
  if (!isObject(candidate) && blocked === undefined) {
    throw new LLMStreamError(
      'The answer has neither a candidate nor a reason why the prompt was blocked.',
      answerDetails(context),
    );
  }
  const warnings = [...context.warnings];
  const finish = (isObject(candidate) ? finishWordOf(candidate.finishReason) : undefined) ?? blocked;
  const ending = isObject(candidate) ? endingOf(finish, blocked, warnings) : FILTERED;
  if (candidates.length > 1) warnings.push(`candidates: ${candidates.length} came, the first is the answer`);

  const naming = namingOf(answer, context);
  const parts = partsOf(candidate, context);
  const items = itemsOfRuns(runsOf(parts), naming, ending.status === 'incomplete' ? 'incomplete' : 'completed');
  const output = isObject(candidate) ? withCitations(items, candidate) : items;
  const response: LLMResponse = {
    id: naming.seed,
    object: 'response',
    created_at: createdAt(answer.createTime) ?? context.receivedAt,
    status: ending.status,
    ...(ending.status === 'incomplete' ? { incomplete_details: { reason: ending.reason } } : {}),
    model: modelOf(answer, context),
    output,
    output_text: outputTextOf(output),
    usage: usageOf(answer.usageMetadata, warnings),
    ...(ending.status === 'failed'
      ? { error: { code: finish ?? ending.status, message: messageOf(candidate, ending.says) } }
      : {}),
    vendor: vendorOf(answer, candidates, finish, context, warnings),
  };
  if (ending.status !== 'failed') return response;
  throw new LLMServerError(messageOf(candidate, ending.says), {
    ...answerDetails(context),
    vendorCode: finish ?? ending.status,
    retryable: ending.retryable,
    response,
  });
}

function endingOf(finish: string | undefined, blocked: string | undefined, warnings: string[]): Ending {
  if (blocked !== undefined && finish === blocked) return FILTERED;
  if (finish !== undefined && Object.hasOwn(ENDINGS, finish)) return ENDINGS[finish] ?? COMPLETED;
  warnings.push(
    finish === undefined
      ? 'finishReason: the answer has none; it counts as completed'
      : `finishReason: ${finish} is not known; it counts as completed`,
  );
  return COMPLETED;
}

/** Enums may be written as numbers too (https://protobuf.dev/programming-guides/json/). */
function finishWordOf(finishReason: unknown): string | undefined {
  if (typeof finishReason === 'number') return String(finishReason);
  return typeof finishReason === 'string' && finishReason !== '' ? finishReason : undefined;
}

function partsOf(candidate: unknown, context: ReplyContext): readonly JsonObject[] {
  const content = isObject(candidate) ? candidate.content : undefined;
  const parts = isObject(content) && Array.isArray(content.parts) ? content.parts : [];
  if (!parts.every(isObject))
    throw new LLMStreamError('A part of the answer is not a JSON object.', answerDetails(context));
  return parts;
}

function messageOf(candidate: unknown, otherwise: string): string {
  const said = isObject(candidate) ? candidate.finishMessage : undefined;
  return typeof said === 'string' && said !== '' ? said : otherwise;
}

/**
 * Everything that the answer's items don't say, so that it can be written again as it was: the body without its
 * first candidate's parts.
 */
function vendorOf(
  answer: JsonObject,
  candidates: readonly unknown[],
  finish: string | undefined,
  context: ReplyContext,
  warnings: string[],
): ResponseVendor {
  const { usageMetadata, ...fields } = answer;
  if (candidates.length > 0) fields.candidates = [withoutParts(candidates[0]), ...candidates.slice(1)];
  return {
    name: context.vendor,
    wire: 'gemini',
    finish_reason: finish ?? null,
    ...(context.requestId === undefined ? {} : { request_id: context.requestId }),
    warnings,
    losses: context.losses,
    ...(isObject(usageMetadata)
      ? { usage: usageMetadata, fields }
      : { fields: usageMetadata === undefined ? fields : { ...fields, usageMetadata } }),
  };
}

function withoutParts(candidate: unknown): unknown {
  if (!isObject(candidate) || !isObject(candidate.content)) return candidate;
  const { parts, ...content } = candidate.content;
  return Array.isArray(parts) && parts.length > 0 ? { ...candidate, content } : candidate;
}

/**
 * The prompt count holds cached tokens already; what server tools read and what the model thought is counted beside
 * it.
 */
export function usageOf(metadata: unknown, warnings: string[]): Usage {
  if (!isObject(metadata)) {
    warnings.push('usageMetadata: the answer has none, so every count is zero');
    return NO_USAGE;
  }
  const count = (field: string): number => {
    const value = Number(metadata[field] ?? 0);
    return Number.isFinite(value) && value > 0 ? value : 0;
  };
  const reasoning = count('thoughtsTokenCount');
  const input = count('promptTokenCount') + count('toolUsePromptTokenCount');
  const output = count('candidatesTokenCount') + reasoning;
  return {
    input_tokens: input,
    output_tokens: output,
    total_tokens: input + output,
    input_tokens_details: { cached_tokens: count('cachedContentTokenCount'), cache_write_tokens: 0 },
    output_tokens_details: { reasoning_tokens: reasoning },
  };
}

function createdAt(createTime: unknown): number | undefined {
  const time = typeof createTime === 'string' ? Date.parse(createTime) : Number.NaN;
  return Number.isNaN(time) ? undefined : Math.floor(time / 1_000);
}
