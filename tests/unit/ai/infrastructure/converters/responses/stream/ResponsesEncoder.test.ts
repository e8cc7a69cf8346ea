/** Encoding domain events as a Responses stream, by the grammar of Open Responses. */
import { expect } from 'chai';
import fc from 'fast-check';
import {
  LLMQuotaError,
  LLMRateLimitError,
  LLMStreamError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type {
  FunctionCallItem,
  MessageItem,
  OutputItem,
  ReasoningItem,
} from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import { unwrapForeign } from '../../../../../../../imports/business/ai/infrastructure/converters/shared/foreignReasoning';
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
import { callItem, response, textItem, usage } from '../../../../../../../imports/testing/responses';
import { CHECKS, eventsIn } from '../../../../../../support/streamGrammar';

const OPENAI = { wire: 'responses', vendor: 'openai', model: 'a-model' } as const;
const CHAT = { wire: 'chat_completions', vendor: 'groq', model: 'a-model' } as const;

function added(output_index: number, item: OutputItem): ResponseStreamEvent {
  return { type: 'response.output_item.added', output_index, item };
}
function done(output_index: number, item: OutputItem): ResponseStreamEvent {
  return { type: 'response.output_item.done', output_index, item };
}
function called(output_index: number, item: FunctionCallItem): ResponseStreamEvent {
  return { type: 'response.tool_use.done', output_index, item };
}
function message(text: string, fields: Partial<MessageItem> = {}): MessageItem {
  return {
    type: 'message',
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text, annotations: [] }],
    ...fields,
  };
}
function typesOf(events: readonly JsonObject[]): readonly string[] {
  return events.map(({ type }) => String(type).replace('response.', ''));
}
function outputOf(events: readonly JsonObject[]): readonly JsonObject[] {
  return (events.at(-1)!.response as JsonObject).output as JsonObject[];
}

const EMPTY_MESSAGE: MessageItem = { type: 'message', role: 'assistant', content: [], status: 'in_progress' };
const EMPTY_REASONING: ReasoningItem = { type: 'reasoning', summary: [], status: 'in_progress' };

describe('ResponsesEncoder', () => {
  it('writes a text in the order that the grammar requires', () => {
    const stream = [
      CREATED_EVENT,
      added(0, EMPTY_MESSAGE),
      textDelta('Hel'),
      textDelta('lo'),
      done(0, message('Hello')),
      completed('gemini', { output: [message('Hello')] }),
    ];
    const text = encoded('openai_responses', stream);
    CHECKS.openai_responses(text);
    expect(typesOf(eventsIn(text))).to.deep.equal([
      'created',
      'in_progress',
      'output_item.added',
      'content_part.added',
      'output_text.delta',
      'output_text.delta',
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'completed',
    ]);
  });

  it('writes each delta as one frame at once', () => {
    const encoder = createStreamEncoder('openai_responses', ENCODER_OPTIONS);
    for (const event of [CREATED_EVENT, added(0, EMPTY_MESSAGE), textDelta('a')]) encoder.push(event);
    const frames = encoder.push(textDelta('b "c"\n'));
    expect(frames.length).to.equal(1);
    expect(eventsIn(frames.join(''))[0]).to.deep.equal({
      type: 'response.output_text.delta',
      item_id: 'msg_1_0',
      output_index: 0,
      content_index: 0,
      logprobs: [],
      delta: 'b "c"\n',
      sequence_number: 5,
    });
  });

  it("writes the entire response from the first event on, with the request's own fields", () => {
    const echo = {
      instructions: 'Be brief.',
      temperature: 0.5,
      tools: [{ type: 'function', name: 'f', description: null, parameters: null, strict: null }],
    };
    const events = encodedEvents(
      'openai_responses',
      [CREATED_EVENT, textDelta('Hi'), completed('gemini', { output: [message('Hi')] })],
      { echo },
    );
    for (const event of [events[0]!, events[1]!, events.at(-1)!]) {
      expect(Object.keys(event.response as JsonObject).length, String(event.type)).to.be.at.least(31);
      expect(event.response).to.deep.include({
        ...echo,
        id: 'resp_1',
        object: 'response',
        created_at: ENCODER_OPTIONS.created,
        model: 'a-model',
        top_p: 1,
        store: true,
      });
    }
    expect(events[0]!.response).to.deep.include({ status: 'in_progress', usage: null, completed_at: null, output: [] });
    expect(events.at(-1)!.response).to.deep.include({
      status: 'completed',
      usage: usage(10, 5),
      completed_at: ENCODER_OPTIONS.created,
    });
  });

  it('writes calls as one piece: added, arguments, done', () => {
    const call = callItem({ name: 'look', call_id: 'c1', arguments: '{"a":1}' });
    const silent = callItem({ name: 'ping', call_id: 'c2', arguments: '' });
    const stream = [
      CREATED_EVENT,
      added(0, { ...call, arguments: '' }),
      added(1, { ...silent, arguments: '' }),
      called(0, call),
      done(0, call),
      called(1, silent),
      done(1, silent),
      completed('gemini', { output: [call, silent] }),
    ];
    const text = encoded('openai_responses', stream);
    CHECKS.openai_responses(text);
    expect(typesOf(eventsIn(text)).slice(2, 6)).to.deep.equal([
      'output_item.added',
      'function_call_arguments.delta',
      'function_call_arguments.done',
      'output_item.done',
    ]);
    expect(outputOf(eventsIn(text)).map(({ call_id, name, arguments: args }) => [call_id, name, args])).to.deep.equal([
      ['c1', 'look', '{"a":1}'],
      ['c2', 'ping', '{}'],
    ]);
  });

  it('closes an open item when the next one starts, and adds its encrypted content to the completed response', () => {
    const reasoning: ReasoningItem = {
      type: 'reasoning',
      summary: [],
      content: [{ type: 'reasoning_text', text: 'Hmm' }],
      status: 'completed',
      origin: CHAT,
      vendor: { openai: { from: 'groq', reasoning_fields: ['reasoning'] } },
    };
    const call = callItem({ name: 'look', call_id: 'c1' });
    const output = [reasoning, message('Hi'), call];
    const stream = [
      CREATED_EVENT,
      added(0, EMPTY_REASONING),
      reasoningDelta('Hm'),
      reasoningDelta('m'),
      added(1, EMPTY_MESSAGE),
      textDelta('Hi', 1),
      added(2, { ...call, arguments: '' }),
      done(0, reasoning),
      done(1, message('Hi')),
      called(2, call),
      done(2, call),
      completed('chat_completions', { output }),
    ];
    const text = encoded('openai_responses', stream);
    CHECKS.openai_responses(text);
    const events = eventsIn(text);
    expect(typesOf(events).slice(2, 11)).to.deep.equal([
      'output_item.added',
      'content_part.added',
      'reasoning.delta',
      'reasoning.delta',
      'reasoning.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
      'content_part.added',
    ]);
    expect(unwrapForeign(outputOf(events)[0]!)).to.deep.equal(reasoning);
  });

  it('continues text after a call in a separate message, and queues complete items while a text is open', () => {
    const tool: OutputItem = { type: 'vendor_item', origin: CHAT, item: { type: 'search' } };
    const call = callItem({ name: 'look', call_id: 'c1' });
    const stream = [
      CREATED_EVENT,
      added(0, EMPTY_MESSAGE),
      textDelta('One'),
      added(1, tool),
      done(1, tool),
      called(2, call),
      textDelta(' two'),
      done(0, message('One two')),
      textDelta('three', 0),
      completed('chat_completions', { output: [message('One two'), tool, call] }),
    ];
    const text = encoded('openai_responses', stream);
    CHECKS.openai_responses(text);
    expect(outputOf(eventsIn(text)).map(({ type }) => type)).to.deep.equal([
      'message',
      'reasoning',
      'function_call',
      'message',
    ]);
    expect(new Set(outputOf(eventsIn(text)).map(({ id }) => id)).size).to.equal(4);
  });

  it('writes the parts that the source numbers as parts, in messages and summaries', () => {
    const complete: MessageItem = {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'AB', annotations: [] },
        { type: 'output_text', text: 'C', annotations: [] },
        { type: 'refusal', refusal: 'No' },
      ],
    };
    const thought: ReasoningItem = {
      type: 'reasoning',
      id: 'rs_1',
      summary: [
        { type: 'summary_text', text: 'One' },
        { type: 'summary_text', text: 'Two' },
      ],
      origin: OPENAI,
    };
    const stream = [
      CREATED_EVENT,
      added(0, { ...thought, summary: [] }),
      reasoningDelta('One', 0, true),
      reasoningDelta('Two', 0, true, 1),
      done(0, thought),
      added(1, EMPTY_MESSAGE),
      textDelta('A', 1),
      textDelta('B', 1),
      textDelta('C', 1, 1),
      { type: 'response.refusal.delta', output_index: 1, delta: 'No', content_index: 2 } as const,
      done(1, complete),
      completed('gemini', { output: [thought, complete] }),
    ];
    const text = encoded('openai_responses', stream);
    CHECKS.openai_responses(text);
    const [reasoning, message] = outputOf(eventsIn(text));
    expect(reasoning!.summary).to.deep.equal(thought.summary);
    expect(message!.content).to.deep.equal(complete.content);
  });

  it('merges parts that the source does not number, and offsets their annotations', () => {
    const cite = (url: string) => ({ type: 'url_citation', url, title: null, cited_text: 'x' });
    const located = { type: 'url_citation', url: 'https://b.example', title: 'B', start_index: 0, end_index: 3 };
    const complete: MessageItem = {
      type: 'message',
      role: 'assistant',
      content: [
        { type: 'output_text', text: 'First. ', annotations: [] },
        { type: 'output_text', text: 'Second.', annotations: [cite('https://a.example'), located] },
        { type: 'output_text', text: '', annotations: [] },
      ],
    };
    const stream = [
      CREATED_EVENT,
      added(0, EMPTY_MESSAGE),
      textDelta('First. '),
      textDelta('Second.'),
      done(0, complete),
      completed('anthropic_messages', { output: [complete] }),
    ];
    const text = encoded('openai_responses', stream);
    CHECKS.openai_responses(text);
    expect(outputOf(eventsIn(text))[0]!.content).to.deep.equal([
      {
        type: 'output_text',
        text: 'First. Second.',
        annotations: [
          { type: 'url_citation', url: 'https://a.example', title: '', cited_text: 'x', start_index: 7, end_index: 14 },
          { ...located, start_index: 7, end_index: 10 },
        ],
      },
    ]);
  });

  it('writes the citations that the format supports', () => {
    const located = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 };
    const file = { type: 'file_citation', file_id: 'f1', filename: 'a.txt', index: 1 };
    const complete = message('Hi', {
      content: [
        {
          type: 'output_text',
          text: 'Hi',
          annotations: [
            located,
            file,
            { type: 'file_citation', index: 0, filename: 'x', cited_text: 'y' },
            { type: 'odd' },
            { type: 'url_citation' },
          ],
        },
      ],
    });
    const text = encoded('openai_responses', [
      CREATED_EVENT,
      added(0, EMPTY_MESSAGE),
      textDelta('Hi'),
      done(0, complete),
      completed('gemini', { output: [complete] }),
    ]);
    CHECKS.openai_responses(text);
    expect((outputOf(eventsIn(text))[0]!.content as JsonObject[])[0]!.annotations).to.deep.equal([located, file]);
  });

  it('writes annotations of parts that close before their item, whether they arrive with or before the text', () => {
    const cite = (content_index: number, url: string) =>
      ({
        type: 'response.annotation.added',
        output_index: 0,
        content_index,
        annotation: { type: 'url_citation', url, title: 'T' },
      }) as const;
    const stream = [
      CREATED_EVENT,
      added(0, EMPTY_MESSAGE),
      textDelta('First'),
      cite(0, 'a'),
      cite(1, 'b'),
      textDelta('Second', 0, 1),
      textDelta('3', 0, 2),
      completed('anthropic_messages'),
    ];
    const text = encoded('openai_responses', stream);
    CHECKS.openai_responses(text);
    expect((outputOf(eventsIn(text))[0]!.content as JsonObject[]).map(({ annotations }) => annotations)).to.deep.equal([
      [{ type: 'url_citation', url: 'a', title: 'T', start_index: 0, end_index: 5 }],
      [{ type: 'url_citation', url: 'b', title: 'T', start_index: 0, end_index: 6 }],
      [],
    ]);
  });

  it('writes the text of an item without deltas', () => {
    const text = encoded('openai_responses', [
      CREATED_EVENT,
      done(0, textItem('Complete.')),
      completed('responses', { output: [] }),
    ]);
    expect(typesOf(eventsIn(text))).to.include.members(['output_text.delta', 'output_text.done']);
  });

  it('names raw reasoning events as the client expects', () => {
    const stream = [CREATED_EVENT, reasoningDelta('Hm'), completed('anthropic_messages')];
    expect(typesOf(encodedEvents('openai_responses', stream))).to.include.members([
      'reasoning.delta',
      'reasoning.done',
    ]);
    expect(
      typesOf(encodedEvents('openai_responses', stream, { rawReasoningName: 'reasoning_text' })),
    ).to.include.members(['reasoning_text.delta', 'reasoning_text.done']);
  });

  const ends = [
    ['completed', 'completed'],
    ['incomplete', 'incomplete'],
    ['cancelled', 'incomplete'],
  ] as const;
  for (const [status, type] of ends) {
    it(`ends a response with status ${status} with response.${type}`, () => {
      const events = encodedEvents('openai_responses', [
        CREATED_EVENT,
        textDelta('Hi'),
        completed('gemini', { status }),
      ]);
      expect(typesOf(events).at(-1)).to.equal(type);
      expect(events.at(-1)!.response).to.deep.include({ status });
    });
  }

  it('fails with an error event, the failed response and the end marker', () => {
    const text = encodedFailure(
      'openai_responses',
      [CREATED_EVENT, added(0, EMPTY_MESSAGE), textDelta('Hi'), done(0, message('Hi'))],
      new LLMRateLimitError('slow down'),
    );
    const events = eventsIn(text);
    expect(events.at(-2)).to.deep.include({
      type: 'error',
      error: { type: 'too_many_requests', code: 'rate-limited', message: 'slow down', param: null },
    });
    expect(events.at(-1)!.type).to.equal('response.failed');
    expect(events.at(-1)!.response).to.deep.include({
      status: 'failed',
      error: { code: 'rate-limited', message: 'slow down' },
      completed_at: null,
    });
    expect(outputOf(events).length).to.equal(1);
    expect(text.endsWith('data: [DONE]\n\n')).to.equal(true);
    events.forEach(({ sequence_number }, number) => expect(sequence_number).to.equal(number));
  });

  it('starts the response before it fails', () => {
    expect(typesOf(eventsIn(encodedFailure('openai_responses', [], new LLMStreamError('nothing came'))))).to.deep.equal(
      ['created', 'in_progress', 'error', 'failed'],
    );
  });

  it('fails with the failed response of the vendor', () => {
    const failed = response({
      status: 'failed',
      vendor: {
        name: 'openai',
        wire: 'responses',
        finish_reason: 'failed',
        warnings: [],
        losses: [],
        fields: { error: { code: 'insufficient_quota', message: 'Pay.' }, new_field: 1 },
      },
    });
    const last = eventsIn(
      encodedFailure('openai_responses', [CREATED_EVENT], new LLMQuotaError('Pay.', { response: failed })),
    ).at(-1)!;
    expect(last.response).to.deep.include({
      status: 'failed',
      error: { code: 'insufficient_quota', message: 'Pay.' },
      new_field: 1,
    });
  });

  it('announces a call by its item, and only the first of parallel calls', () => {
    const [one, two] = [callItem({ name: 'one', call_id: 'a' }), callItem({ name: 'two', call_id: 'b' })];
    const encoder = createStreamEncoder('openai_responses', { ...ENCODER_OPTIONS, emitFunctionAnnouncements: true });
    const stream: ResponseStreamEvent[] = [
      CREATED_EVENT,
      added(0, EMPTY_MESSAGE),
      textDelta('Hi'),
      added(1, { ...one, arguments: '' }),
    ];
    const before = stream.map((event) => encoder.push(event).join(''));
    expect(typesOf(eventsIn(before.at(-1)!))).to.deep.equal([
      'output_text.done',
      'content_part.done',
      'output_item.done',
      'output_item.added',
    ]);
    const rest: ResponseStreamEvent[] = [
      added(2, { ...two, arguments: '' }),
      called(2, two),
      called(1, one),
      completed('responses', { output: [] }),
    ];
    const text = [...before, ...rest.map((event) => encoder.push(event).join('')), ...encoder.end()].join('');
    const items = eventsIn(text)
      .filter(({ type }) => type === 'response.output_item.done')
      .map(({ item }) => (item as JsonObject).name);
    expect(items).to.deep.equal([undefined, 'one', 'two']);
  });

  it('closes an announced call that was truncated, without its arguments', () => {
    const call: FunctionCallItem = {
      type: 'function_call',
      call_id: 'a',
      name: 'one',
      arguments: '{"half',
      status: 'incomplete',
    };
    const stream = [
      CREATED_EVENT,
      added(0, { ...call, arguments: '' }),
      done(0, call),
      completed('chat_completions', {
        status: 'incomplete',
        incomplete_details: { reason: 'max_output_tokens' },
        output: [call],
      }),
    ];
    const text = encoded('openai_responses', stream, { emitFunctionAnnouncements: true });
    CHECKS.openai_responses(text);
    expect(outputOf(eventsIn(text))).to.deep.equal([
      { id: 'fc_1_0', type: 'function_call', call_id: 'a', name: 'one', arguments: '', status: 'incomplete' },
    ]);
    expect(encoded('openai_responses', stream)).not.to.include('half');
  });

  describe('for streams of the same wire', () => {
    it("relays the vendor's own items and events, renumbered if calls before them are hidden", () => {
      const call: FunctionCallItem = { type: 'function_call', id: 'fc_1', call_id: 'c', name: 'f', arguments: '{}' };
      const search = {
        type: 'web_search_call',
        id: 'ws_1',
        status: 'completed',
        new_field: 1,
        origin: OPENAI,
      } as const;
      const stream = [
        CREATED_EVENT,
        added(0, call),
        called(0, call),
        done(0, call),
        added(1, { ...search, status: 'in_progress' }),
        {
          type: 'vendor.event',
          origin: OPENAI,
          raw: { type: 'response.web_search_call.searching', output_index: 1, item_id: 'ws_1', sequence_number: 99 },
        } as const,
        done(1, search),
        completed('responses', { output: [call, search] }),
      ];
      const complete = encoded('openai_responses', stream);
      CHECKS.openai_responses(complete);
      expect(outputOf(eventsIn(complete)).map(({ id }) => id)).to.deep.equal(['fc_1', 'ws_1']);
      const shown = encoded('openai_responses', stream, { relayToolUseEvents: false });
      CHECKS.openai_responses(shown);
      expect(eventsIn(shown)[3]).to.deep.equal({
        type: 'response.web_search_call.searching',
        output_index: 0,
        item_id: 'ws_1',
        sequence_number: 3,
      });
      const { origin: _, ...item } = search;
      expect(outputOf(eventsIn(shown))).to.deep.equal([item]);
    });

    it('writes custom calls as one piece, too', () => {
      const call: OutputItem = {
        type: 'custom_tool_call',
        id: 'ct_1',
        call_id: 'c',
        name: 'f',
        input: 'complete',
        status: 'completed',
        origin: OPENAI,
      };
      const raw = { type: 'response.custom_tool_call_input.delta', output_index: 0, item_id: 'ct_1', delta: 'who' };
      const text = encoded('openai_responses', [
        CREATED_EVENT,
        added(0, { ...call, input: '' }),
        { type: 'vendor.event', origin: OPENAI, raw },
        done(0, call),
        completed('responses', { output: [call] }),
      ]);
      CHECKS.openai_responses(text);
      expect(typesOf(eventsIn(text))).to.deep.equal([
        'created',
        'in_progress',
        'output_item.added',
        'custom_tool_call_input.delta',
        'custom_tool_call_input.done',
        'output_item.done',
        'completed',
      ]);
    });

    it("ends with the vendor's own response, completed with what Open Responses requires", () => {
      const vendor = {
        fields: { temperature: 0.3, new_field: { a: 1 } },
        usage: { input_tokens: 10, output_tokens: 5, total_tokens: 15, more: 1 },
      };
      const body = encodedEvents('openai_responses', [CREATED_EVENT, completed('responses', { vendor })]).at(
        -1,
      )!.response;
      expect(body).to.deep.include({
        temperature: 0.3,
        new_field: { a: 1 },
        usage: vendor.usage,
        truncation: 'disabled',
        created_at: 1_750_000_000,
      });
    });
  });

  it('follows the grammar whatever order the source sends its items in', () => {
    const step = fc.record({
      place: fc.integer({ min: 0, max: 3 }),
      act: fc.constantFrom('text', 'reason', 'call', 'added', 'done', 'refuse'),
      part: fc.integer({ min: 0, max: 1 }),
      delta: fc.string({ maxLength: 4 }),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 25 }), fc.boolean(), (steps, emitFunctionAnnouncements) => {
        const texts = new Map<number, string>();
        const calls = new Set<number>();
        const events = steps.flatMap(({ place, act, part, delta }): ResponseStreamEvent[] => {
          const call = callItem({ name: 'f', call_id: `c${place}` });
          switch (act) {
            case 'text':
              texts.set(place, (texts.get(place) ?? '') + delta);
              return [textDelta(delta, place, part)];
            case 'refuse':
              return [{ type: 'response.refusal.delta', output_index: place, delta }];
            case 'reason':
              return [reasoningDelta(delta, place, part === 1)];
            case 'call':
              if (calls.has(place) || emitFunctionAnnouncements) return [];
              calls.add(place);
              return [called(place, call)];
            case 'added':
              return [added(place, part === 0 ? EMPTY_MESSAGE : EMPTY_REASONING)];
            case 'done':
              return [done(place, message(texts.get(place) ?? ''))];
          }
        });
        CHECKS.openai_responses(
          encoded('openai_responses', [CREATED_EVENT, ...events, completed('gemini')], { emitFunctionAnnouncements }),
        );
      }),
      { numRuns: 300 },
    );
  });
});
