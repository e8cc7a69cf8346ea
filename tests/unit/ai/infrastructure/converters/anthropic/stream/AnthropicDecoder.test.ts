/** Streams of the Messages API yield the same response as without streaming, and none if they are cut off. */
import { MessageStream } from '@anthropic-ai/sdk/lib/MessageStream';
import { expect } from 'chai';
import {
  LLMError,
  LLMOverloadedError,
  LLMStreamError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import { fromAnthropic } from '../../../../../../../imports/business/ai/infrastructure/converters/anthropic/AnthropicConverter';
import { createAnthropicDecoder } from '../../../../../../../imports/business/ai/infrastructure/converters/anthropic/stream/AnthropicDecoder';
import { ANTHROPIC, anthropicResponseContext, sse } from '../../../../../../support/anthropicRecordings';
import { sseMessages } from '../../../../../../support/recordings';
import { isObject } from '../../../../../../../imports/business/ai/domain/util/json';
import type { LLMResponse, OutputItem } from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import type {
  ResponseContext,
  SseMessage,
} from '../../../../../../../imports/business/ai/infrastructure/converters/Wire';

const recordedStreams = ANTHROPIC.filter(({ stream, status }) => stream && status === 200);
const completeStreams = recordedStreams.filter(({ text }) => text.includes('message_stop'));

interface Decoded {
  readonly events: readonly ResponseStreamEvent[];
  readonly error?: unknown;
}

function decode(messages: readonly SseMessage[], context: ResponseContext = anthropicResponseContext()): Decoded {
  const decoder = createAnthropicDecoder(context);
  const events: ResponseStreamEvent[] = [];
  try {
    for (const message of messages) decoder.push(message, events);
    decoder.end(events);
    return { events };
  } catch (error) {
    return { events, error };
  }
}

function completed({ events, error }: Decoded): LLMResponse {
  if (error !== undefined) throw new Error('the stream broke', { cause: error });
  const last = events.at(-1);
  if (last?.type !== 'response.completed') throw new Error('the stream did not complete');
  return last.response;
}

function ofType<T extends ResponseStreamEvent['type']>(
  events: readonly ResponseStreamEvent[],
  type: T,
): Extract<ResponseStreamEvent, { type: T }>[] {
  return events.filter((event): event is Extract<ResponseStreamEvent, { type: T }> => event.type === type);
}

/** The message that the vendor's SDK assembles from the stream, without the SDK's own field. */
async function messageOfSdk(messages: readonly SseMessage[]): Promise<JsonObject> {
  const lines = messages.map(({ data }) => `${JSON.stringify(JSON.parse(data))}\n`).join('');
  const message = await MessageStream.fromReadableStream(new Blob([lines]).stream()).finalMessage();
  const { parsed_output: _, ...sent } = JSON.parse(JSON.stringify(message)) as JsonObject & {
    content: readonly JsonObject[];
  };
  return { ...sent, content: sent.content.map(({ parsed_output: __, ...block }) => block) };
}

const START = {
  type: 'message_start',
  message: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-x',
    content: [],
    stop_reason: null,
    stop_sequence: null,
    usage: { input_tokens: 5, output_tokens: 1 },
  },
};
const STOP = { type: 'message_stop' };

function messageDelta(stop_reason: string, usage: JsonObject = { output_tokens: 9 }): JsonObject {
  return { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage };
}

function block(index: number, content_block: JsonObject, ...deltas: readonly JsonObject[]): JsonObject[] {
  return [
    { type: 'content_block_start', index, content_block },
    ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
    { type: 'content_block_stop', index },
  ];
}

const textBlock = (index: number, ...pieces: readonly string[]): JsonObject[] =>
  block(index, { type: 'text', text: '' }, ...pieces.map((text) => ({ type: 'text_delta', text })));
const callBlock = (index: number, id: string, ...pieces: readonly string[]): JsonObject[] =>
  block(
    index,
    { type: 'tool_use', id, name: 'weather', input: {} },
    ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
  );

describe('AnthropicDecoder on recorded streams', () => {
  it('covers all recorded streams', () => {
    expect([recordedStreams.length, completeStreams.length]).to.deep.equal([9, 8]);
  });

  it('completes with the same response as without streaming', async () => {
    for (const recording of completeStreams) {
      const messages = sseMessages(recording.text);
      expect(completed(decode(messages)), recording.name).to.deep.equal(
        fromAnthropic(await messageOfSdk(messages), anthropicResponseContext()),
      );
    }
  });

  it('emits every output item once, complete, at its index', () => {
    for (const recording of completeStreams) {
      const { events } = decode(sseMessages(recording.text));
      const output = completed({ events }).output;
      const done: OutputItem[] = [];
      for (const event of ofType(events, 'response.output_item.done')) done[event.output_index] = event.item;
      expect(done, recording.name).to.deep.equal(output);
      expect(ofType(events, 'response.output_item.added').map(({ output_index }) => output_index)).to.deep.equal(
        output.map((_, index) => index),
      );
    }
  });

  it('emits deltas that add up to the text, reasoning and citations', () => {
    for (const recording of completeStreams) {
      const { events } = decode(sseMessages(recording.text));
      const response = completed({ events });
      const reasoning = response.output.flatMap((item) =>
        item.type === 'reasoning' ? (item.content ?? []).map(({ text }) => text) : [],
      );
      const annotations = response.output.flatMap((item) =>
        item.type === 'message'
          ? item.content.flatMap((part) => (part.type === 'output_text' ? part.annotations : []))
          : [],
      );
      expect(
        ofType(events, 'response.output_text.delta')
          .map(({ delta }) => delta)
          .join(''),
        recording.name,
      ).to.equal(response.output_text);
      expect(
        ofType(events, 'response.reasoning.delta')
          .map(({ delta }) => delta)
          .join(''),
        recording.name,
      ).to.equal(reasoning.join(''));
      expect(
        ofType(events, 'response.annotation.added').map(({ annotation }) => annotation),
        recording.name,
      ).to.deep.equal(annotations);
    }
  });

  it('announces each call immediately and emits it once it is complete', () => {
    for (const recording of completeStreams) {
      const { events } = decode(sseMessages(recording.text));
      const calls = completed({ events }).output.filter((item) => item.type === 'function_call');
      expect(
        ofType(events, 'response.tool_use.announced').map(({ call_id }) => call_id),
        recording.name,
      ).to.deep.equal(calls.map(({ call_id }) => call_id));
      expect(
        ofType(events, 'response.tool_use.done').map(({ item }) => item),
        recording.name,
      ).to.deep.equal(calls);
    }
  });

  it('throws when the body ends after any event, and never completes', () => {
    let [cuts, total] = [0, 0];
    for (const recording of completeStreams) {
      const messages = sseMessages(recording.text);
      total += messages.length;
      for (let length = 0; length < messages.length; length += 1) {
        const { events, error } = decode(messages.slice(0, length));
        expect(error, `${recording.name}, ${length} events`).to.be.instanceOf(LLMStreamError);
        expect(ofType(events, 'response.completed')).to.deep.equal([]);
        cuts += 1;
      }
    }
    expect([cuts, total]).to.deep.equal([230, 230]);
  });

  it('throws the error of a stream that contains nothing else', () => {
    const onlyError = recordedStreams.find(({ text }) => !text.includes('message_stop'));
    const { events, error } = decode(sseMessages(onlyError?.text ?? ''));
    expect(error).to.be.instanceOf(LLMOverloadedError);
    expect((error as LLMError).vendorCode).to.equal('overloaded_error');
    expect(events).to.deep.equal([]);
  });
});

describe('AnthropicDecoder', () => {
  it('emits events in order', () => {
    const { events } = decode(
      sse(
        START,
        { type: 'ping' },
        ...textBlock(0, 'Let me', ' look.'),
        ...callBlock(1, 'toolu_1', '{"city":', '"Rome"}'),
        messageDelta('tool_use'),
        STOP,
      ),
    );
    expect(events.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.usage',
      'response.output_item.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.output_item.done',
      'response.output_item.added',
      'response.tool_use.announced',
      'response.tool_use.done',
      'response.output_item.done',
      'response.usage',
      'response.completed',
    ]);
  });

  it('reads an input without any JSON as an empty object', () => {
    const [call] = completed(decode(sse(START, ...callBlock(0, 'toolu_1', ''), messageDelta('tool_use'), STOP))).output;
    expect(call).to.deep.include({ type: 'function_call', call_id: 'toolu_1', arguments: '{}', status: 'completed' });
  });

  it('separates parallel calls', () => {
    const { events } = decode(
      sse(START, ...callBlock(0, 'a', '{"n":1}'), ...callBlock(1, 'b', '{"n":', '2}'), messageDelta('tool_use'), STOP),
    );
    expect(
      ofType(events, 'response.tool_use.done').map(({ item, output_index }) => [
        item.call_id,
        item.arguments,
        output_index,
      ]),
    ).to.deep.equal([
      ['a', '{"n":1}', 0],
      ['b', '{"n":2}', 1],
    ]);
  });

  it('never emits a call whose block has not ended', () => {
    const [start, ...rest] = callBlock(0, 'toolu_1', '{"city":"Rome"}');
    const { events, error } = decode(sse(START, start ?? {}, ...rest.slice(0, -1), messageDelta('tool_use'), STOP));
    expect(error).to.be.instanceOf(LLMStreamError).with.property('message', 'The stream ended inside content block 0.');
    expect(ofType(events, 'response.tool_use.done')).to.deep.equal([]);
    expect(ofType(events, 'response.completed')).to.deep.equal([]);
  });

  it('emits a call that the model has completed, even if its input is not JSON', () => {
    const { events } = decode(
      sse(START, ...callBlock(0, 'a', '{"city":"Ro'), ...callBlock(1, 'b', '{}'), messageDelta('tool_use'), STOP),
    );
    const calls = ofType(events, 'response.tool_use.done').map(({ item, output_index }) => [
      item.arguments,
      output_index,
    ]);
    expect(calls).to.have.deep.members([
      ['{"city":"Ro', 0],
      ['{}', 1],
    ]);
    expect(events.at(-1)?.type).to.equal('response.completed');
  });

  it('preserves an input truncated by the token limit', () => {
    const decoded = decode(sse(START, ...callBlock(0, 'toolu_1', '{"city":"Ro'), messageDelta('max_tokens'), STOP));
    const response = completed(decoded);
    expect(ofType(decoded.events, 'response.tool_use.done')).to.deep.equal([]);
    expect(response.output[0]).to.deep.include({ arguments: '{"city":"Ro', status: 'incomplete' });
    expect(response.status).to.equal('incomplete');
    expect(response.incomplete_details).to.deep.equal({ reason: 'max_output_tokens' });
  });

  it('marks a message truncated by the token limit as incomplete, in the event and in the response', () => {
    const { events } = decode(sse(START, ...textBlock(0, 'Once upon'), messageDelta('max_tokens'), STOP));
    const [done] = ofType(events, 'response.output_item.done');
    expect(done?.item).to.include({ type: 'message', status: 'incomplete' });
    expect(completed({ events }).output[0]).to.deep.equal(done?.item);
  });

  it('merges the last usage into the first: totals are replaced, null and missing counts ignored', () => {
    const start = {
      ...START,
      message: {
        ...START.message,
        usage: { input_tokens: 5, cache_read_input_tokens: 3, output_tokens: 1, service_tier: 'standard' },
      },
    };
    const { events } = decode(
      sse(
        start,
        ...textBlock(0, 'Hi'),
        messageDelta('end_turn', {
          input_tokens: null,
          output_tokens: 20,
          output_tokens_details: { thinking_tokens: 7 },
        }),
        STOP,
      ),
    );
    const response = completed({ events });
    expect(response.vendor.usage).to.deep.equal({
      input_tokens: 5,
      cache_read_input_tokens: 3,
      output_tokens: 20,
      service_tier: 'standard',
      output_tokens_details: { thinking_tokens: 7 },
    });
    expect(response.usage).to.deep.equal({
      input_tokens: 8,
      output_tokens: 20,
      total_tokens: 28,
      input_tokens_details: { cached_tokens: 3, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 7 },
    });
    expect(ofType(events, 'response.usage').at(-1)?.usage).to.deep.equal(response.usage);
  });

  it('preserves thinking without text, its signature, and redacted thinking', () => {
    const { output } = completed(
      decode(
        sse(
          START,
          ...block(0, { type: 'thinking', thinking: '', signature: '' }, { type: 'signature_delta', signature: 'sig' }),
          ...block(1, { type: 'redacted_thinking', data: 'sealed' }),
          ...textBlock(2, 'Done.'),
          messageDelta('end_turn'),
          STOP,
        ),
      ),
    );
    const origin = { wire: 'anthropic_messages', vendor: 'anthropic', model: 'claude-x' };
    expect(output.slice(0, 2)).to.deep.equal([
      {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: '' }],
        encrypted_content: 'sig',
        origin,
      },
      {
        type: 'reasoning',
        summary: [],
        encrypted_content: 'sealed',
        origin,
        vendor: { anthropic: { type: 'redacted_thinking' } },
      },
    ]);
  });

  it('preserves unknown blocks and deltas, and forwards the deltas', () => {
    const compaction = { type: 'compaction_delta', content: 'What was said', encrypted_content: null };
    const { events } = decode(
      sse(
        START,
        ...block(0, { type: 'compaction', content: null }, compaction),
        ...block(1, { type: 'song', text: 'la' }, { type: 'song_delta', text: ' la' }),
        messageDelta('end_turn'),
        STOP,
      ),
    );
    expect(
      completed({ events }).output.map((item) => (item.type === 'vendor_item' ? item.item : item.type)),
    ).to.deep.equal([
      { type: 'compaction', content: 'What was said', encrypted_content: null },
      { type: 'song', text: 'la la' },
    ]);
    expect(ofType(events, 'vendor.event').map(({ raw }) => raw)).to.deep.equal([
      { type: 'content_block_delta', index: 0, delta: compaction },
      { type: 'content_block_delta', index: 1, delta: { type: 'song_delta', text: ' la' } },
    ]);
  });

  it('forwards unknown events', () => {
    const { events } = decode(sse(START, { type: 'weather', sky: 'blue' }, messageDelta('end_turn'), STOP));
    expect(ofType(events, 'vendor.event').map(({ raw }) => raw)).to.deep.equal([{ type: 'weather', sky: 'blue' }]);
    expect(completed({ events }).output).to.deep.equal([]);
  });

  it('reads complete blocks in message_start', () => {
    const content = [
      {
        type: 'code_execution_tool_result',
        tool_use_id: 'srvtoolu_1',
        content: { type: 'code_execution_result', stdout: '1' },
      },
      {
        type: 'tool_use',
        id: 'toolu_2',
        name: 'look',
        input: { id: 'c1' },
        caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' },
      },
    ];
    const message = { ...START.message, content, stop_reason: 'tool_use' };
    const { events } = decode(sse({ type: 'message_start', message }, STOP));
    expect(completed({ events })).to.deep.equal(fromAnthropic(message, anthropicResponseContext()));
    expect(ofType(events, 'response.tool_use.done').map(({ item }) => item.arguments)).to.deep.equal(['{"id":"c1"}']);
  });

  it('preserves further fields of message_delta', () => {
    const end = {
      type: 'message_delta',
      delta: {
        stop_reason: 'refusal',
        stop_details: { type: 'refusal', category: 'cyber', explanation: 'No.' },
        container: null,
      },
      usage: { output_tokens: 5 },
      context_management: { applied_edits: [] },
    };
    const response = completed(decode(sse(START, end, STOP)));
    expect(response).to.deep.include({
      status: 'incomplete',
      incomplete_details: { reason: 'content_filter' },
      output: [],
    });
    expect(response.vendor.fields).to.deep.include({
      stop_details: end.delta.stop_details,
      context_management: end.context_management,
    });
  });

  it("emits the response tool's input as the text that is written", () => {
    const { events } = decode(
      sse(START, ...callBlock(0, 'toolu_1', '{ "city"', ': "Rome" }'), messageDelta('tool_use'), STOP),
      anthropicResponseContext({ structuredOutputTool: 'weather' }),
    );
    const response = completed({ events });
    const deltas = ofType(events, 'response.output_text.delta').map(({ delta }) => delta);
    expect(deltas).to.deep.equal(['{ "city"', ': "Rome" }']);
    expect(response.output_text).to.equal(deltas.join(''));
    expect(ofType(events, 'response.tool_use.announced')).to.deep.equal([]);
    expect(ofType(events, 'response.output_item.done')[0]?.item).to.deep.equal(response.output[0]);
  });

  it('emits a value that the response tool wraps, and an input that is empty, once they are complete', () => {
    for (const [name, pieces, text] of [
      ['respond_with_json_value', ['{"value"', ': [1, 2]}'], '[1,2]'],
      ['weather', [''], '{}'],
    ] as const) {
      const call = callBlock(0, 'toolu_1', ...pieces).map((event) =>
        isObject(event.content_block) ? { ...event, content_block: { ...event.content_block, name } } : event,
      );
      const { events } = decode(
        sse(START, ...call, messageDelta('tool_use'), STOP),
        anthropicResponseContext({ structuredOutputTool: name }),
      );
      expect(ofType(events, 'response.output_text.delta').map(({ delta }) => delta)).to.deep.equal([text]);
      expect(completed({ events }).output_text).to.equal(text);
    }
  });

  it('ignores events after the end, and a repeated message_start', () => {
    const { events } = decode(
      sse(START, START, ...textBlock(0, 'Hi'), messageDelta('end_turn'), STOP, { type: 'ping' }),
    );
    expect(ofType(events, 'response.created')).to.have.lengthOf(1);
    expect(completed({ events }).output_text).to.equal('Hi');
  });

  for (const [what, messages] of [
    ['an event that is not JSON', [...sse(START), { data: '{"type":"content_bl' }]],
    ['an event that is not an object', [...sse(START), { data: '[]' }]],
    ['an HTML page', [{ data: '<html><body>Bad gateway</body></html>' }]],
    ['content before the beginning', sse(...textBlock(0, 'Hi'))],
    [
      'a delta for a block that is not open',
      sse(START, { type: 'content_block_delta', index: 3, delta: { type: 'text_delta', text: 'x' } }),
    ],
    ['a block that begins twice', sse(START, ...textBlock(0, 'a').slice(0, 1), ...textBlock(0, 'a').slice(0, 1))],
    [
      'a delta without its text',
      sse(
        START,
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta' } },
      ),
    ],
    ['a second message inside the first', sse(START, { ...START, message: { ...START.message, id: 'msg_2' } })],
    ['an end without a stop reason', sse(START, ...textBlock(0, 'Hi'), STOP)],
  ] as const) {
    it(`throws for ${what}`, () => {
      const { events, error } = decode(messages);
      expect(error).to.be.instanceOf(LLMStreamError);
      expect(ofType(events, 'response.completed')).to.deep.equal([]);
    });
  }

  it('keeps throwing after an error in the stream', () => {
    const decoder = createAnthropicDecoder(anthropicResponseContext());
    const events: ResponseStreamEvent[] = [];
    const [start, error] = sse(START, {
      type: 'error',
      error: { type: 'api_error', message: 'Internal server error' },
    });
    decoder.push(start!, events);
    expect(() => decoder.push(error!, events)).to.throw(LLMError, 'Internal server error');
    for (const message of sse(messageDelta('end_turn'), STOP))
      expect(() => decoder.push(message, events)).to.throw(LLMStreamError);
    expect(() => decoder.end(events)).to.throw(LLMStreamError);
    expect(ofType(events, 'response.completed')).to.deep.equal([]);
  });
});
