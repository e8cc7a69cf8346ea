/** How Responses streams end, whether they were encoded or their host's own events went on. */
import { isObject } from '../../../../domain/json';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { DEFAULT_FIELDS, writeResponses } from '../gateway/ResponsesGateway';
import type { SequencedFrames } from './SequencedFrames';
import { responsesError } from '../../stream/streamErrors';

/** Every other status ends in `response.incomplete`. */
export const EVENT_OF_STATUS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
};

/** What a Responses host said of its response, with what Open Responses demands and the host left out. */
export function passthroughBody(response: LLMResponse, echo: JsonObject | undefined): JsonObject {
  const completed_at = response.status === 'completed' ? response.created_at : null;
  return { ...DEFAULT_FIELDS, usage: null, completed_at, ...echo, ...writeResponses(response) };
}

export interface FailureDetails {
  readonly echo?: JsonObject;
  /** The response as it was told so far. */
  readonly snapshot: JsonObject;
  /** The items that have closed. */
  readonly output: readonly JsonObject[];
  /** The error in the words of a host of this API, which says more than ours. */
  readonly upstreamError?: JsonObject | undefined;
}

/** The event that names the error, and the response as far as it came. */
export function responsesFailure(
  frames: SequencedFrames,
  error: LLMError,
  { echo, snapshot, output, upstreamError: upstreamError }: FailureDetails,
): readonly string[] {
  const body = error.response?.vendor.wire === 'responses' ? passthroughBody(error.response, echo) : { output };
  const failure = 'error' in body && isObject(body.error) ? body.error : { code: error.code, message: error.message };
  const failed = { status: 'failed', completed_at: null, incomplete_details: null, error: failure };
  const usage = error.response === undefined ? {} : { usage: error.response.usage };
  return [
    frames.frame(
      'error',
      upstreamError === undefined ? { error: responsesError(error) } : withUpstreamError(upstreamError, error),
    ),
    frames.frame('response.failed', { response: { ...snapshot, ...usage, ...body, ...failed } }),
  ];
}

/** OpenAI says it flat, Open Responses in a field of its own: clients of either find it. */
function withUpstreamError(upstreamError: JsonObject, error: LLMError): JsonObject {
  const nested = isObject(upstreamError.error) ? upstreamError.error : {};
  return {
    ...upstreamError,
    error: {
      ...nested,
      ...responsesError(error),
      ...(error.vendorCode === undefined ? {} : { code: error.vendorCode }),
    },
  };
}
