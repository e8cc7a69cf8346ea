/**
 * Reads the fields that complete responses and stream chunks have in common: error, id, model and block reason.
 * https://ai.google.dev/api/generate-content#GenerateContentResponse
 */
import type { ItemNaming } from './items';
import type { ResponseContext } from '../../Wire';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { vendorError } from '../../../../domain/errors/vendorErrors';
import { isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** @throws LLMError for an error body, LLMStreamError for any other body that is not a response */
export function parseEnvelope(body: unknown, context: ResponseContext): JsonObject {
  if (!isObject(body))
    throw new LLMStreamError('The response is not a JSON object of the Gemini API.', errorDetails(context));
  if (isObject(body.error)) throw vendorError({ vendor: context.vendor, body, ...requestIdOf(context) });
  return body;
}

/**
 * Derives ids from the response's id, the request's id or the time, so that they are the same with and without
 * streaming.
 */
export function namingOf(body: JsonObject, context: ResponseContext): ItemNaming {
  const { responseId } = body;
  const seed =
    typeof responseId === 'string' && responseId !== ''
      ? responseId
      : (context.requestId ?? String(context.receivedAt));
  return { seed, itemIds: true, origin: { wire: 'gemini', vendor: context.vendor, model: modelOf(body, context) } };
}

export function modelOf(body: JsonObject, context: ResponseContext): string {
  return typeof body.modelVersion === 'string' && body.modelVersion !== '' ? body.modelVersion : context.model;
}

export function blockReasonOf(body: JsonObject): string | undefined {
  const reason = isObject(body.promptFeedback) ? body.promptFeedback.blockReason : undefined;
  return typeof reason === 'string' ? reason : undefined;
}

export function errorDetails(context: ResponseContext): { vendor: string; requestId?: string } {
  return { vendor: context.vendor, ...requestIdOf(context) };
}

function requestIdOf(context: ResponseContext): { requestId?: string } {
  return context.requestId === undefined ? {} : { requestId: context.requestId };
}
