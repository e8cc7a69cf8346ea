/** Recorded traffic of the Anthropic wire: responses, requests, and the loops that connect them. */
import { expect } from 'chai';
import { normalizeOptions } from '../../../../../../imports/business/ai/application/services/ContentNormalizer';
import { isLLMError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import {
  fromAnthropic,
  toAnthropic,
} from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/AnthropicConverter';
import {
  readAnthropicRequest,
  writeAnthropic,
} from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/gateway/AnthropicGateway';
import { createAnthropicDecoder } from '../../../../../../imports/business/ai/infrastructure/converters/anthropic/stream/AnthropicDecoder';
import { ANTHROPIC, anthropicContext, anthropicResponseContext } from '../../../../../support/anthropicRecordings';
import { sseMessages } from '../../../../../support/recordings';
import { assertAnthropicBody } from '../../../../../support/publishedSchemas';
import { meaningOfAnthropic } from '../../../../../support/sameMeaning/anthropic';
import type { NormalizedOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse, OutputItem } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import type { RequestRecording } from '../../../../../support/recordings';

const responses = ANTHROPIC.filter(({ status, stream }) => status === 200 && !stream);
const streams = ANTHROPIC.filter(
  ({ status, stream, text }) => status === 200 && stream && text.includes('message_stop'),
);
const failures = ANTHROPIC.filter(({ status }) => status !== 200);

/** Read by the gateway and normalized, like every request. */
function normalized(recording: RequestRecording): { options: NormalizedOptions; stream: boolean } {
  const { stream, ...options } = readAnthropicRequest(recording.request);
  return { options: normalizeOptions(options), stream: stream === true };
}

function streamed(recording: RequestRecording): LLMResponse {
  const decoder = createAnthropicDecoder(anthropicResponseContext());
  const out: ResponseStreamEvent[] = [];
  for (const message of sseMessages(recording.text)) decoder.push(message, out);
  decoder.end(out);
  const last = out.at(-1);
  if (last?.type !== 'response.completed') throw new Error(`${recording.name} did not complete`);
  return last.response;
}

function responseOf(recording: RequestRecording): LLMResponse {
  return recording.stream ? streamed(recording) : fromAnthropic(JSON.parse(recording.text), anthropicResponseContext());
}

/** A copy as a store would return it, which no cache contains. */
function roundTripJson<T>(value: T): T {
  return JSON.parse(JSON.stringify(value)) as T;
}

describe('AnthropicConverter on recorded traffic', () => {
  it('covers all recorded exchanges', () => {
    expect(ANTHROPIC).to.have.lengthOf(31);
    expect([responses.length, streams.length, failures.length]).to.deep.equal([16, 8, 6]);
  });

  it('writes every recorded response as the vendor sent it', () => {
    for (const recording of responses) {
      const body = JSON.parse(recording.text) as JsonObject;
      expect(
        writeAnthropic(roundTripJson(fromAnthropic(body, anthropicResponseContext()))),
        recording.name,
      ).to.deep.equal(body);
    }
  });

  it('sends every recorded request as its client wrote it, conforming to the schema', () => {
    for (const recording of ANTHROPIC) {
      const { options, stream } = normalized(recording);
      const request = toAnthropic(options, anthropicContext(), stream);
      expect(meaningOfAnthropic(request.body), recording.name).to.deep.equal(meaningOfAnthropic(recording.request));
      expect(request.losses, recording.name).to.deep.equal([]);
      assertAnthropicBody(request.body, recording.name);
    }
  });

  it('sends the blocks of every recorded response back unchanged', () => {
    const all = [...responses, ...streams];
    for (const recording of all) {
      const response = roundTripJson(responseOf(recording));
      const sent = conversationOf(response.output);
      expect(sent, recording.name).to.deep.equal(writeAnthropic(response).content);
    }
    expect(all).to.have.lengthOf(24);
  });

  it('reproduces every follow-up request from the preceding items and response', () => {
    let followed = 0;
    for (const recording of ANTHROPIC) {
      const next = ANTHROPIC.find(({ caseId, n }) => caseId === recording.caseId && n === recording.n + 1);
      if (next === undefined) continue;
      const { options, stream } = normalized(recording);
      const response = returnedItems(recording);
      const added = readAnthropicRequest({
        ...next.request,
        messages: messagesOf(next).slice(messagesOf(recording).length + 1),
      }).input;
      const request = toAnthropic(
        normalizeOptions({ ...options, input: [...options.input, ...response, ...added] }),
        anthropicContext(),
        stream,
      );
      expect(withoutCallers(meaningOfAnthropic(request.body)), next.name).to.deep.equal(
        meaningOfAnthropic(next.request),
      );
      followed += 1;
    }
    expect(followed).to.equal(8);
  });

  it('reports the vendor, wire, model and outcome of every response', () => {
    for (const recording of responses) {
      const body = JSON.parse(recording.text) as JsonObject & { content: JsonObject[] };
      const response = fromAnthropic(body, anthropicResponseContext());
      expect(response.vendor, recording.name).to.include({
        name: 'anthropic',
        wire: 'anthropic_messages',
        finish_reason: body.stop_reason,
        request_id: 'req_1',
      });
      expect(response.model).to.equal(body.model);
      expect(response.status, recording.name).to.equal(body.stop_reason === 'max_tokens' ? 'incomplete' : 'completed');
      expect(response.output_text).to.equal(
        body.content.map(({ type, text }) => (type === 'text' ? String(text) : '')).join(''),
      );
      expect(response.vendor.warnings).to.deep.equal([]);
    }
  });

  it('counts cached input as input', () => {
    const cached = responses.find(({ caseId }) => caseId === 'anthropic-cache-a');
    expect(fromAnthropic(JSON.parse(cached?.text ?? ''), anthropicResponseContext()).usage).to.deep.equal({
      input_tokens: 16,
      output_tokens: 32,
      total_tokens: 48,
      input_tokens_details: { cached_tokens: 1, cache_write_tokens: 2 },
      output_tokens_details: { reasoning_tokens: 0 },
    });
  });

  it('throws for an error body with any status', () => {
    for (const recording of failures) {
      let caught: unknown;
      try {
        fromAnthropic(JSON.parse(recording.text), anthropicResponseContext());
      } catch (error) {
        caught = error;
      }
      expect(isLLMError(caught), recording.name).to.equal(true);
    }
    expect(failures).to.have.lengthOf(6);
  });
});

/** The assistant's items as they are sent back. */
function conversationOf(output: readonly OutputItem[]): readonly JsonObject[] {
  const question: OutputItem = { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] };
  const calls = output.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []));
  const results = calls.map((call_id): OutputItem => ({ type: 'function_call_output', call_id, output: 'done' }));
  const options = normalizeOptions({ model: 'claude-sonnet-4-5', input: [question, ...output, ...results] });
  const request = toAnthropic(options, anthropicContext(), false);
  expect(request.losses).to.deep.equal([]);
  const messages = request.body.messages as readonly { role: string; content: readonly JsonObject[] }[];
  return messages.find(({ role }) => role === 'assistant')?.content ?? [];
}

function messagesOf(recording: RequestRecording): readonly unknown[] {
  return recording.request.messages as readonly unknown[];
}

/** The items that the client sent back: one recorded client dropped the text before the calls. */
function returnedItems(recording: RequestRecording): readonly OutputItem[] {
  const output = roundTripJson(responseOf(recording)).output;
  return recording.caseId === 'anthropic-parallel-a' ? output.filter(({ type }) => type !== 'message') : output;
}

/** Clients may omit `caller`, and the recorded ones did. */
function withoutCallers(meaning: JsonObject): JsonObject {
  const messages = meaning.messages as readonly { content: readonly JsonObject[] }[];
  return {
    ...meaning,
    messages: messages.map((message) => ({
      ...message,
      content: message.content.map(({ caller: _, ...block }) => block),
    })),
  };
}
