/** How Responses streams end, whether they were encoded or their host's own events went on. */
import { isObject } from '../../../../domain/json';
import type { LLMError } from '../../../../domain/errors/LLMErrors';
import type { LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../domain/types/VendorTypes';
import { ASSUMED, writeResponses } from '../gateway/ResponsesGateway';
import type { SequencedFrames } from './SequencedFrames';
import { responsesError } from '../../stream/streamErrors';

/** Every other status ends in `response.incomplete`. */
export const EVENT_OF_STATUS: Readonly<Record<string, string>> = {
  completed: 'response.completed',
  failed: 'response.failed',
};

/** What a Responses host said of its response, with what Open Responses demands and the host left out. */
export function hostedBody(response: LLMResponse, echo: JsonObject | undefined): JsonObject {
  const completed_at = response.status === 'completed' ? response.created_at : null;
  return { ...ASSUMED, usage: null, completed_at, ...echo, ...writeResponses(response) };
}

export interface FailureFacts {
  readonly echo?: JsonObject;
  /** The response as it was told so far. */
  readonly begun: JsonObject;
  /** The items that have closed. */
  readonly output: readonly JsonObject[];
  /** The error in the words of a host of this API, which says more than ours. */
  readonly said?: JsonObject | undefined;
}

/** The event that names the error, and the response as far as it came. */
export function responsesFailure(
  frames: SequencedFrames,
  error: LLMError,
  { echo, begun, output, said: theirs }: FailureFacts,
): readonly string[] {
  const known = error.response?.vendor.wire === 'responses' ? hostedBody(error.response, echo) : { output };
  const said = 'error' in known && isObject(known.error) ? known.error : { code: error.code, message: error.message };
  const failed = { status: 'failed', completed_at: null, incomplete_details: null, error: said };
  const usage = error.response === undefined ? {} : { usage: error.response.usage };
  return [
    frames.frame('error', theirs === undefined ? { error: responsesError(error) } : asHostSaidIt(theirs, error)),
    frames.frame('response.failed', { response: { ...begun, ...usage, ...known, ...failed } }),
  ];
}

/** OpenAI says it flat, Open Responses in a field of its own: clients of either find it. */
function asHostSaidIt(theirs: JsonObject, error: LLMError): JsonObject {
  const nested = isObject(theirs.error) ? theirs.error : {};
  return {
    ...theirs,
    error: {
      ...nested,
      ...responsesError(error),
      ...(error.vendorCode === undefined ? {} : { code: error.vendorCode }),
    },
  };
}
