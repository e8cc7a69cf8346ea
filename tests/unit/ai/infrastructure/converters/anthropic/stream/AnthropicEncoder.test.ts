/** Encodes domain events as a streamed message. */
import { expect } from 'chai';
import {
  LLMAuthError,
  LLMContextLengthError,
  LLMOverloadedError,
  LLMRateLimitError,
  LLMStreamError,
  LLMTimeoutError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type {
  FunctionCallItem,
  MessageItem,
  OutputItem,
  OutputText,
  ReasoningItem,
} from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import { createStreamEncoder } from '../../../../../../../imports/business/ai/infrastructure/streaming/createStreamEncoder';
import {
  completed,
  CREATED_EVENT,
  encoded,
  encodedEvents,
  ENCODER_OPTIONS,
  encodedFailure,
  reasoningDelta,
  textDelta,
} from '../../../../../../support/encoding';
import { answer, callItem, calling, eventsOf, textItem, usage } from '../../../../../../../imports/testing/responses';
import { CHECKS, eventsIn } from '../../../../../../support/streamGrammar';

const ORIGIN = { wire: 'anthropic_messages', vendor: 'anthropic', model: 'a-model' } as const;

/** The blocks of the events, as `<index> <type>`. */
function blocks(events: readonly JsonObject[]): readonly string[] {
  return events.flatMap(({ type, index, content_block, delta }) => {
    if (type === 'content_block_start') return [`${Number(index)} ${JSON.stringify(content_block)}`];
    if (type === 'content_block_delta') return [`${Number(index)} ${JSON.stringify(delta)}`];
    return type === 'content_block_stop' ? [`${Number(index)} stop`] : [];
  });
}

function done(
  output_index: number,
  item: OutputItem,
): { readonly type: 'response.output_item.done'; readonly output_index: number; readonly item: OutputItem } {
  return { type: 'response.output_item.done', output_index, item };
}

describe('AnthropicEncoder', () => {
  it('starts the message with the usage known so far', () => {
    const encoder = createStreamEncoder('anthropic', ENCODER_OPTIONS);
    expect(encoder.push(CREATED_EVENT)).to.deep.equal([]);
    const counted = { ...usage(30, 1), input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 } };
    const [start] = eventsIn(encoder.push({ type: 'response.usage', usage: counted }).join(''));
    expect(start!.message).to.deep.include({
      id: 'resp_1',
      model: 'a-model',
      role: 'assistant',
      content: [],
      stop_reason: null,
    });
    expect((start!.message as JsonObject).usage).to.deep.equal({
      input_tokens: 15,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 10,
      output_tokens: 1,
    });
    expect(encoder.push({ type: 'response.usage', usage: counted })).to.deep.equal([]);
  });

  it('writes each delta as one frame immediately', () => {
    const encoder = createStreamEncoder('anthropic', ENCODER_OPTIONS);
    encoder.push(CREATED_EVENT);
    expect(encoder.push(textDelta('One')).length).to.equal(3);
    expect(encoder.push(textDelta('two "quoted"\n'))).to.deep.equal([
      'event: content_block_delta\ndata: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"two \\"quoted\\"\\n"}}\n\n',
    ]);
  });

  it('writes thinking, text and calls as consecutive blocks, each call with its input in one delta', () => {
    const call = callItem({ name: 'look', call_id: 'toolu_1', arguments: '{"a": 1.0}' });
    const events = encodedEvents('anthropic', [
      CREATED_EVENT,
      reasoningDelta('Hm'),
      reasoningDelta('m'),
      textDelta('Hi', 1),
      { type: 'response.tool_use.done', output_index: 2, item: call },
      textDelta('More', 3),
      completed('chat_completions', { output: [call] }),
    ]);
    expect(blocks(events)).to.deep.equal([
      '0 {"type":"thinking","thinking":"","signature":""}',
      '0 {"type":"thinking_delta","thinking":"Hm"}',
      '0 {"type":"thinking_delta","thinking":"m"}',
      '0 stop',
      '1 {"type":"text","text":""}',
      '1 {"type":"text_delta","text":"Hi"}',
      '1 stop',
      '2 {"type":"tool_use","id":"toolu_1","name":"look","input":{}}',
      '2 {"type":"input_json_delta","partial_json":"{\\"a\\": 1.0}"}',
      '2 stop',
      '3 {"type":"text","text":""}',
      '3 {"type":"text_delta","text":"More"}',
      '3 stop',
    ]);
    expect(events.at(-2)).to.deep.include({
      type: 'message_delta',
      delta: { stop_reason: 'tool_use', stop_sequence: null },
    });
    expect(events.at(-1)).to.deep.equal({ type: 'message_stop' });
  });

  it('writes calls of other wires with valid ids and inputs', () => {
    const calls = [
      callItem({ name: 'f', call_id: 'call:1/ä', arguments: '' }),
      callItem({ name: 'g', call_id: 'ok', arguments: 'not json' }),
    ];
    const events = encodedEvents('anthropic', eventsOf({ ...calling(), output: calls }));
    const starts = events
      .filter(({ type }) => type === 'content_block_start')
      .map(({ content_block }) => content_block as JsonObject);
    for (const { id } of starts) expect(id).to.match(/^[a-zA-Z0-9_-]{1,64}$/);
    expect(
      events.flatMap(({ delta }) =>
        (delta as JsonObject | undefined)?.partial_json === undefined ? [] : [(delta as JsonObject).partial_json],
      ),
    ).to.deep.equal(['{}', '{"arguments":"not json"}']);
  });

  it('writes an input truncated by the token limit as it is', () => {
    const item: FunctionCallItem = {
      type: 'function_call',
      call_id: 'toolu_1',
      name: 'f',
      arguments: '{"a": [1, 2',
      status: 'incomplete',
    };
    const stream = [
      CREATED_EVENT,
      { type: 'response.tool_use.done', output_index: 0, item } as const,
      completed('anthropic_messages', {
        status: 'incomplete',
        output: [item],
        vendor: { finish_reason: 'max_tokens' },
      }),
    ];
    expect(blocks(encodedEvents('anthropic', stream))[1]).to.equal(
      '0 {"type":"input_json_delta","partial_json":"{\\"a\\": [1, 2"}',
    );
  });

  it('writes parts of a summary as paragraphs of one thinking block, and parts of a message as separate blocks', () => {
    const events = encodedEvents('anthropic', [
      CREATED_EVENT,
      reasoningDelta('One', 0, true),
      reasoningDelta('Two', 0, true, 1),
      textDelta('A', 1),
      textDelta('B', 1, 1),
      completed('responses'),
    ]);
    expect(blocks(events).filter((line) => !line.includes('stop'))).to.deep.equal([
      '0 {"type":"thinking","thinking":"","signature":""}',
      '0 {"type":"thinking_delta","thinking":"One"}',
      '0 {"type":"thinking_delta","thinking":"\\n\\nTwo"}',
      '1 {"type":"text","text":""}',
      '1 {"type":"text_delta","text":"A"}',
      '2 {"type":"text","text":""}',
      '2 {"type":"text_delta","text":"B"}',
    ]);
  });

  const stopReasons = [
    ['completed', undefined, 'end_turn'],
    ['incomplete', 'max_output_tokens', 'max_tokens'],
    ['incomplete', 'content_filter', 'refusal'],
  ] as const;
  for (const [status, reason, word] of stopReasons) {
    it(`ends ${status}${reason === undefined ? '' : ` (${reason})`} with ${word}`, () => {
      const end = completed('gemini', { status, ...(reason === undefined ? {} : { incomplete_details: { reason } }) });
      expect(encodedEvents('anthropic', [CREATED_EVENT, textDelta('Hi'), end]).at(-2)!.delta).to.deep.equal({
        stop_reason: word,
        stop_sequence: null,
      });
    });
  }

  it('excludes cached tokens from input_tokens, as the API does', () => {
    const counts = { ...usage(30, 9), input_tokens_details: { cached_tokens: 10, cache_write_tokens: 5 } };
    expect(encodedEvents('anthropic', eventsOf(answer('Hi', { usage: counts }))).at(-2)!.usage).to.deep.equal({
      input_tokens: 15,
      cache_creation_input_tokens: 5,
      cache_read_input_tokens: 10,
      output_tokens: 9,
    });
  });

  const errors = [
    [new LLMOverloadedError('x'), 'overloaded_error'],
    [new LLMRateLimitError('x'), 'rate_limit_error'],
    [new LLMAuthError('x'), 'authentication_error'],
    [new LLMContextLengthError('x'), 'request_too_large'],
    [new LLMTimeoutError('x'), 'timeout_error'],
    [new LLMStreamError('x'), 'api_error'],
  ] as const;
  for (const [error, type] of errors) {
    it(`writes ${error.code} as ${type}, and nothing after it`, () => {
      const events = eventsIn(encodedFailure('anthropic', [CREATED_EVENT, textDelta('Hi')], error));
      expect(events.at(-1)).to.deep.equal({ type: 'error', error: { type, message: 'x' } });
      expect(events.map((event) => event.type)).not.to.include('message_stop');
    });
  }

  it('announces calls in a separate event after message_start', () => {
    const stream = eventsOf(calling({ name: 'look', call_id: 'c1' }));
    const events = encodedEvents('anthropic', stream, { emitFunctionAnnouncements: true });
    expect(events.slice(0, 2).map(({ type }) => type)).to.deep.equal(['message_start', 'tool_use_announced']);
    expect(events[1]).to.deep.equal({ type: 'tool_use_announced', id: 'c1', name: 'look' });
  });

  it('writes an empty response without blocks', () => {
    const text = encoded('anthropic', [CREATED_EVENT, completed('gemini')]);
    CHECKS.anthropic(text);
    expect(blocks(eventsIn(text))).to.deep.equal([]);
  });

  it('writes the reasoning of other wires without their encrypted content', () => {
    const foreign: ReasoningItem = {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Readable' }],
      encrypted_content: 'secret',
      origin: { wire: 'responses' },
    };
    const hosted: OutputItem = { type: 'web_search_call', id: 'ws_1', origin: { wire: 'responses' } };
    const text = encoded('anthropic', [CREATED_EVENT, done(0, foreign), done(1, hosted), completed('responses')]);
    CHECKS.anthropic(text);
    expect(text).to.include('Readable').and.not.to.include('secret').and.not.to.include('ws_1');
  });

  describe('for streams of the same wire', () => {
    it('writes the signature of thinking, and redacted thinking in one piece', () => {
      const thinking: ReasoningItem = {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: 'Hm' }],
        encrypted_content: 'sig',
        origin: ORIGIN,
      };
      const redacted: ReasoningItem = {
        type: 'reasoning',
        summary: [],
        encrypted_content: 'data',
        origin: ORIGIN,
        vendor: { anthropic: { type: 'redacted_thinking' } },
      };
      const hidden: ReasoningItem = {
        type: 'reasoning',
        summary: [],
        content: [{ type: 'reasoning_text', text: '' }],
        encrypted_content: 'sig2',
        origin: ORIGIN,
      };
      const events = encodedEvents('anthropic', [
        CREATED_EVENT,
        reasoningDelta('Hm'),
        done(0, thinking),
        done(1, redacted),
        done(2, hidden),
        completed('anthropic_messages', { vendor: { finish_reason: 'end_turn' } }),
      ]);
      expect(blocks(events)).to.deep.equal([
        '0 {"type":"thinking","thinking":"","signature":""}',
        '0 {"type":"thinking_delta","thinking":"Hm"}',
        '0 {"type":"signature_delta","signature":"sig"}',
        '0 stop',
        '1 {"data":"data","type":"redacted_thinking"}',
        '1 stop',
        '2 {"type":"thinking","thinking":"","signature":""}',
        '2 {"type":"signature_delta","signature":"sig2"}',
        '2 stop',
      ]);
    });

    it('writes server tools with their input as a delta, and their results in one piece', () => {
      const use: OutputItem = {
        type: 'vendor_item',
        origin: ORIGIN,
        item: { type: 'server_tool_use', id: 's1', name: 'web_search', input: { query: 'q' } },
      };
      const result: OutputItem = {
        type: 'vendor_item',
        origin: ORIGIN,
        item: { type: 'web_search_tool_result', tool_use_id: 's1', content: [] },
      };
      expect(
        blocks(
          encodedEvents('anthropic', [
            CREATED_EVENT,
            done(0, use),
            done(1, result),
            completed('anthropic_messages', { vendor: { finish_reason: 'pause_turn' } }),
          ]),
        ),
      ).to.deep.equal([
        '0 {"type":"server_tool_use","id":"s1","name":"web_search","input":{}}',
        '0 {"type":"input_json_delta","partial_json":"{\\"query\\":\\"q\\"}"}',
        '0 stop',
        '1 {"type":"web_search_tool_result","tool_use_id":"s1","content":[]}',
        '1 stop',
      ]);
    });

    const cited = (text: string, url: string): OutputText => ({
      type: 'output_text',
      text,
      annotations: [{ type: 'url_citation', url }],
      vendor: { anthropic: { citations: [{ type: 'web_search_result_location', url }] } },
    });

    it('ends a text with its original citations', () => {
      const message: MessageItem = { type: 'message', role: 'assistant', content: [cited('A', 'a'), cited('B', 'b')] };
      expect(
        blocks(
          encodedEvents('anthropic', [
            CREATED_EVENT,
            textDelta('A'),
            textDelta('B'),
            done(0, message),
            completed('anthropic_messages', { vendor: { finish_reason: 'end_turn' } }),
          ]),
        ).slice(3),
      ).to.deep.equal([
        '0 {"type":"citations_delta","citation":{"type":"web_search_result_location","url":"a"}}',
        '0 {"type":"citations_delta","citation":{"type":"web_search_result_location","url":"b"}}',
        '0 stop',
      ]);
    });

    it('writes citations that arrive with or before their text into its block, once', () => {
      const message: MessageItem = { type: 'message', role: 'assistant', content: [cited('A', 'a'), cited('B', 'b')] };
      const source = (url: string, content_index: number) =>
        [
          {
            type: 'response.annotation.added',
            output_index: 0,
            content_index,
            annotation: { type: 'url_citation', url },
          },
          {
            type: 'vendor.event',
            origin: ORIGIN,
            raw: {
              type: 'content_block_delta',
              index: content_index + 4,
              delta: { type: 'citations_delta', citation: { url } },
            },
          },
        ] as const;
      const stream = [
        CREATED_EVENT,
        textDelta('A', 0),
        ...source('a', 0),
        ...source('b', 1),
        textDelta('B', 0, 1),
        done(0, message),
        completed('anthropic_messages', { vendor: { finish_reason: 'end_turn' } }),
      ];
      expect(blocks(encodedEvents('anthropic', stream))).to.deep.equal([
        '0 {"type":"text","text":""}',
        '0 {"type":"text_delta","text":"A"}',
        '0 {"type":"citations_delta","citation":{"url":"a"}}',
        '0 stop',
        '1 {"type":"text","text":""}',
        '1 {"type":"citations_delta","citation":{"url":"b"}}',
        '1 {"type":"text_delta","text":"B"}',
        '1 stop',
      ]);
    });

    it('forwards unknown events, but no deltas of complete blocks', () => {
      const raw = { type: 'weather_report', sky: 'blue' };
      const growing = { type: 'content_block_delta', index: 0, delta: { type: 'compaction_delta', content: 'c' } };
      const events = encodedEvents('anthropic', [
        CREATED_EVENT,
        { type: 'vendor.event', origin: ORIGIN, raw },
        { type: 'vendor.event', origin: ORIGIN, raw: growing },
        completed('anthropic_messages', { vendor: { finish_reason: 'end_turn' } }),
      ]);
      expect(events[1]).to.deep.equal(raw);
      expect(events.map(({ type }) => type)).to.deep.equal([
        'message_start',
        'weather_report',
        'message_delta',
        'message_stop',
      ]);
    });

    it("ends with the vendor's stop reason, usage and fields", () => {
      const top = { context_management: { edits: [] }, input_transformations: [] };
      const vendor = {
        finish_reason: 'pause_turn',
        fields: { stop_sequence: null, container: { id: 'c' }, ...top, new_field: 1 },
        usage: { input_tokens: 1, output_tokens: 2, service_tier: 'standard' },
      };
      expect(
        encodedEvents('anthropic', [CREATED_EVENT, textDelta('Hi'), completed('anthropic_messages', { vendor })]).at(
          -2,
        ),
      ).to.deep.equal({
        type: 'message_delta',
        delta: { stop_reason: 'pause_turn', stop_sequence: null, container: { id: 'c' }, new_field: 1 },
        usage: vendor.usage,
        ...top,
      });
    });
  });

  it('writes the text of an item without deltas', () => {
    expect(
      blocks(encodedEvents('anthropic', [CREATED_EVENT, done(0, textItem('Whole.')), completed('responses')])),
    ).to.include('0 {"type":"text_delta","text":"Whole."}');
  });
});
