/** Encodes entire streams of domain events. */
import type { LLMError } from '../../imports/business/ai/domain/errors/LLMErrors';
import type { LLMResponse, ResponseVendor } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject, ServedScheme, ServedWire } from '../../imports/business/ai/domain/types/VendorTypes';
import { createStreamEncoder } from '../../imports/business/ai/infrastructure/streaming/createStreamEncoder';
import type { StreamEncoderOptions } from '../../imports/business/ai/infrastructure/converters/stream/StreamEncoder';
import { response } from '../../imports/testing/responses';
import { eventsIn } from './streamGrammar';

export const ENCODER_OPTIONS: StreamEncoderOptions = {
  model: 'asked-model',
  id: 'fallback_id',
  created: 1_760_000_000,
};

/** All frames of a stream that ends normally. */
export function encoded(
  scheme: ServedScheme,
  events: readonly ResponseStreamEvent[],
  options: Partial<StreamEncoderOptions> = {},
): string {
  const encoder = createStreamEncoder(scheme, { ...ENCODER_OPTIONS, ...options });
  return [...events.flatMap((event) => encoder.push(event)), ...encoder.end()].join('');
}

/** The same as parsed JSON, without the end marker. */
export function encodedEvents(
  scheme: ServedScheme,
  events: readonly ResponseStreamEvent[],
  options: Partial<StreamEncoderOptions> = {},
): readonly JsonObject[] {
  return eventsIn(encoded(scheme, events, options));
}

/** All frames of a stream that fails after these events. */
export function encodedFailure(
  scheme: ServedScheme,
  events: readonly ResponseStreamEvent[],
  error: LLMError,
  options: Partial<StreamEncoderOptions> = {},
): string {
  const encoder = createStreamEncoder(scheme, { ...ENCODER_OPTIONS, ...options });
  return [...events.flatMap((event) => encoder.push(event)), ...encoder.fail(error), ...encoder.end()].join('');
}

export const CREATED_EVENT: ResponseStreamEvent = { type: 'response.created', id: 'resp_1', model: 'a-model' };

/** The final event of a stream of a wire, with further fields of its response. */
export function completed(
  wire: ServedWire,
  fields: Partial<Omit<LLMResponse, 'vendor'>> & { readonly vendor?: Partial<ResponseVendor> } = {},
): ResponseStreamEvent {
  const { vendor, ...others } = fields;
  return {
    type: 'response.completed',
    response: response({
      id: 'resp_1',
      model: 'a-model',
      ...others,
      vendor: { name: 'a-vendor', wire, finish_reason: null, warnings: [], losses: [], ...vendor },
    }),
  };
}

export function textDelta(delta: string, output_index = 0, content_index?: number): ResponseStreamEvent {
  return {
    type: 'response.output_text.delta',
    output_index,
    delta,
    ...(content_index === undefined ? {} : { content_index }),
  };
}

export function reasoningDelta(
  delta: string,
  output_index = 0,
  summary = false,
  content_index?: number,
): ResponseStreamEvent {
  return {
    type: 'response.reasoning.delta',
    output_index,
    delta,
    summary,
    ...(content_index === undefined ? {} : { content_index }),
  };
}
