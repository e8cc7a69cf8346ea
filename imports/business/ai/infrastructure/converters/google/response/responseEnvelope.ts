/**
 * What can be said of any answer of the Gemini wire, whole or a chunk: whether it is one, what it is called, which
 * model wrote it.
 */
import type { ItemNaming } from './items';
import type { ResponseContext } from '../../Wire';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { isObject } from '../../../../domain/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** @throws LLMError for an error in place of an answer, LLMStreamError for anything else that is none */
export function parseEnvelope(body: unknown, context: ResponseContext): JsonObject {
  if (!isObject(body))
    throw new LLMStreamError('The answer is not a JSON object of the Gemini API.', errorDetails(context));
  if (isObject(body.error)) throw vendorError({ vendor: context.vendor, body, ...requestIdOf(context) });
  return body;
}

/**
 * Ids are made from the answer's own id, else from the request's, else from the time: the same for a stream and a
 * whole answer.
 */
export function namingOf(answer: JsonObject, context: ResponseContext): ItemNaming {
  const { responseId } = answer;
  const seed =
    typeof responseId === 'string' && responseId !== ''
      ? responseId
      : (context.requestId ?? String(context.receivedAt));
  return { seed, itemIds: true, origin: { wire: 'gemini', vendor: context.vendor, model: modelOf(answer, context) } };
}

export function modelOf(answer: JsonObject, context: ResponseContext): string {
  return typeof answer.modelVersion === 'string' && answer.modelVersion !== '' ? answer.modelVersion : context.model;
}

export function blockReasonOf(answer: JsonObject): string | undefined {
  const reason = isObject(answer.promptFeedback) ? answer.promptFeedback.blockReason : undefined;
  return typeof reason === 'string' ? reason : undefined;
}

export function errorDetails(context: ResponseContext): { vendor: string; requestId?: string } {
  return { vendor: context.vendor, ...requestIdOf(context) };
}

function requestIdOf(context: ResponseContext): { requestId?: string } {
  return context.requestId === undefined ? {} : { requestId: context.requestId };
}
