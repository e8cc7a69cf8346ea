/**
 * Writes the end of a Responses stream, whether it was encoded or relayed from a vendor.
 * https://www.openresponses.org
 */
import { isObject } from '../../../../domain/util/json';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { DEFAULT_FIELDS, writeResponses } from '../gateway/ResponsesGateway';
import type { SequencedFrames } from './SequencedFrames';
import { responsesStreamError } from './responsesStreamError';

/** Every other status ends with `response.incomplete`. */
export const EVENT_OF_STATUS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
};

/** A Responses vendor's own body, plus the fields that Open Responses requires and the vendor omitted. */
export function passthroughBody(response: LLMResponse, echo: JsonObject | undefined): JsonObject {
  const completed_at = response.status === 'completed' ? response.created_at : null;
  return { ...DEFAULT_FIELDS, usage: null, completed_at, ...echo, ...writeResponses(response) };
}

export interface FailureDetails {
  readonly echo?: JsonObject | undefined;
  /** The response as it was last sent. */
  readonly snapshot: JsonObject;
  /** The items that have closed. */
  readonly output: readonly JsonObject[];
  /** The error event of a vendor of this API, which has more detail than ours. */
  readonly upstreamError?: JsonObject | undefined;
}

/** The event with the error, and the failed response with the output so far. */
export function responsesFailure(
  frames: SequencedFrames,
  error: LLMError,
  { echo, snapshot, output, upstreamError }: FailureDetails,
): readonly string[] {
  const body = error.response?.vendor.wire === 'responses' ? passthroughBody(error.response, echo) : { output };
  const failure = 'error' in body && isObject(body.error) ? body.error : { code: error.code, message: error.message };
  const failed = { status: 'failed', completed_at: null, incomplete_details: null, error: failure };
  const usage = error.response === undefined ? {} : { usage: error.response.usage };
  return [
    frames.frame(
      'error',
      upstreamError === undefined ? { error: responsesStreamError(error) } : withUpstreamError(upstreamError, error),
    ),
    frames.frame('response.failed', { response: { ...snapshot, ...usage, ...body, ...failed } }),
  ];
}

/** OpenAI writes the error's fields flat, Open Responses under `error`; writing both serves clients of either. */
function withUpstreamError(upstreamError: JsonObject, error: LLMError): JsonObject {
  const nested = isObject(upstreamError.error) ? upstreamError.error : {};
  return {
    ...upstreamError,
    error: { ...nested, ...responsesStreamError(error), ...omitUndefined({ code: error.vendorCode }) },
  };
}
