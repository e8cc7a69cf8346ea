/** Decoding chat completion streams: all recorded ones, every truncation of them, and the quirks of vendors. */
import { expect } from 'chai';
import { fromChatCompletions } from '../../../../../../../imports/business/ai/infrastructure/converters/chat/ChatCompletionsConverter';
import { writeChatCompletions } from '../../../../../../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
import type { SseMessage } from '../../../../../../../imports/business/ai/infrastructure/converters/Wire';
import { ChatCompletionsDecoder } from '../../../../../../../imports/business/ai/infrastructure/converters/chat/stream/ChatCompletionsDecoder';
import { chatCompletionsWire } from '../../../../../../../imports/business/ai/infrastructure/converters/chat/chatCompletionsWire';
import {
  isLLMError,
  LLMInvalidRequestError,
  LLMRateLimitError,
  LLMStreamError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type {
  FunctionCallItem,
  LLMResponse,
} from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import {
  CHAT_STREAMS,
  chatResponseContext,
  decodeEvents,
  responseContextFor,
  responseIn,
  streamOf,
} from '../../../../../../support/chatRecordings';
import { sseMessages } from '../../../../../../support/recordings';
import { quirksFor } from '../../../../../../support/wireContexts';

type Event<T extends ResponseStreamEvent['type']> = Extract<ResponseStreamEvent, { readonly type: T }>;

function of<T extends ResponseStreamEvent['type']>(
  events: readonly ResponseStreamEvent[],
  type: T,
): readonly Event<T>[] {
  return events.filter((event): event is Event<T> => event.type === type);
}

function chunk(delta: JsonObject | undefined, fields: JsonObject = {}, choice: JsonObject = {}): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_700_000_000,
    model: 'a-model',
    choices: [{ index: 0, ...(delta === undefined ? {} : { delta }), finish_reason: null, ...choice }],
    ...fields,
  };
}
function end(finish_reason: string | null = 'stop', fields: JsonObject = {}): JsonObject {
  return chunk({}, fields, { finish_reason });
}
function fragments(...tool_calls: readonly JsonObject[]): JsonObject {
  return chunk({ tool_calls });
}

const USAGE = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };

function streamed(...chunks: readonly (JsonObject | string)[]): readonly ResponseStreamEvent[] {
  return decodeEvents(streamOf(...chunks), chatResponseContext());
}
function callsIn(...chunks: readonly JsonObject[]): readonly FunctionCallItem[] {
  return of(streamed(...chunks, end('tool_calls')), 'response.tool_use.done').map(({ item }) => item);
}
function brokenBy(run: () => unknown): unknown {
  try {
    run();
  } catch (error) {
    return error;
  }
  throw new Error('nothing was thrown');
}

/** Assembles the recorded chunks field by field, without the code under test. */
function contentIn(messages: readonly SseMessage[]): {
  text: string;
  reasoning: string;
  calls: readonly { id: string; name: string; args: string }[];
  finish: unknown;
  usage: unknown;
} {
  const calls: { id: string; name: string; args: string }[] = [];
  let [text, reasoning] = ['', ''];
  let finish: unknown;
  let usage: unknown;
  for (const { data } of messages) {
    if (data === '[DONE]') continue;
    const raw = JSON.parse(data) as {
      choices: readonly { delta?: Delta; finish_reason?: string | null }[];
      usage?: unknown;
      x_groq?: { usage?: unknown };
    };
    usage = raw.usage ?? raw.x_groq?.usage ?? usage;
    for (const { delta, finish_reason } of raw.choices) {
      finish = finish_reason ?? finish;
      text += delta?.content ?? '';
      reasoning += delta?.reasoning ?? delta?.reasoning_content ?? '';
      for (const { index, id, function: called } of delta?.tool_calls ?? []) {
        const call = (calls[index] ??= { id: id ?? '', name: called.name ?? '', args: '' });
        call.args += called.arguments ?? '';
      }
    }
  }
  return { text, reasoning, calls, finish, usage };
}
interface Delta {
  readonly content?: string | null;
  readonly reasoning?: string;
  readonly reasoning_content?: string;
  readonly tool_calls?: readonly {
    readonly index: number;
    readonly id?: string;
    readonly function: { readonly name?: string; readonly arguments?: string };
  }[];
}

const COMPLETE_STREAMS = CHAT_STREAMS.filter(({ text }) => text.includes('[DONE]'));

describe('ChatCompletionsDecoder', () => {
  it('is the decoder of the wire', () => {
    expect(chatCompletionsWire.name).to.equal('chat_completions');
    expect(chatCompletionsWire.createDecoder(chatResponseContext())).to.be.an.instanceOf(ChatCompletionsDecoder);
  });

  describe('recorded streams', () => {
    it('covers all recordings, one of them with an error', () => {
      expect([CHAT_STREAMS.length, COMPLETE_STREAMS.length]).to.deep.equal([21, 20]);
    });

    for (const one of COMPLETE_STREAMS) {
      it(`${one.name}: emits the chunks' content, in deltas and in the final response`, () => {
        const events = decodeEvents(sseMessages(one.text), responseContextFor(one));
        const response = responseIn(events);
        const content = contentIn(sseMessages(one.text));
        expect(
          of(events, 'response.output_text.delta')
            .map(({ delta }) => delta)
            .join(''),
        ).to.equal(content.text);
        expect(response.output_text).to.equal(content.text);
        expect(
          of(events, 'response.reasoning.delta')
            .map(({ delta }) => delta)
            .join(''),
        ).to.equal(content.reasoning);
        expect(
          of(events, 'response.tool_use.done').map(({ item }) => ({
            id: item.call_id,
            name: item.name,
            args: item.arguments,
          })),
        ).to.deep.equal(content.calls);
        expect(of(events, 'response.tool_use.announced').map(({ call_id, name }) => ({ call_id, name }))).to.deep.equal(
          content.calls.map(({ id, name }) => ({ call_id: id, name })),
        );
        expect(response.vendor.finish_reason).to.equal(content.finish);
        expect(response.vendor.usage).to.deep.equal(content.usage ?? undefined);
        expect(response.status).to.equal(content.finish === 'length' ? 'incomplete' : 'completed');
      });

      it(`${one.name}: ends with the response that the same request gets without streaming`, () => {
        const response = responseIn(decodeEvents(sseMessages(one.text), responseContextFor(one)));
        const body = writeChatCompletions(response);
        expect(body).to.include({ object: 'chat.completion' });
        expect(fromChatCompletions(body, responseContextFor(one))).to.deep.equal(response);
      });

      it(`${one.name}: starts each item once, before its deltas, and ends it once`, () => {
        const events = decodeEvents(sseMessages(one.text), responseContextFor(one));
        expectOrder(events);
        expect(of(events, 'response.created')).to.have.length(1);
        expect(of(events, 'response.output_item.done').map(({ item }) => item)).to.deep.equal(
          responseIn(events).output,
        );
      });

      it(`${one.name}: throws wherever it is cut before the end marker`, () => {
        const context = responseContextFor(one);
        const quirks = { ...context.quirks, allowsMissingEndMarker: false };
        const decoder = new ChatCompletionsDecoder({ ...context, quirks });
        const messages = sseMessages(one.text);
        const out: ResponseStreamEvent[] = [];
        expect(() => decoder.end(out)).to.throw(LLMStreamError);
        for (const message of messages.slice(0, -1)) {
          decoder.push(message, out);
          expect(() => decoder.end(out)).to.throw(LLMStreamError, /\[DONE\]/);
        }
        expect(of(out, 'response.tool_use.done')).to.deep.equal([]);
        expect(of(out, 'response.completed')).to.deep.equal([]);
        decoder.push(messages.at(-1)!, out);
        decoder.end(out);
        expect(of(out, 'response.completed')).to.have.length(1);
      });
    }

    it("groq-in-stream-error-a 1: throws the vendor's error with the failed generation, after the preceding events", () => {
      const [one] = CHAT_STREAMS.filter(({ text }) => !text.includes('[DONE]'));
      const decoder = new ChatCompletionsDecoder(responseContextFor(one!));
      const out: ResponseStreamEvent[] = [];
      const messages = sseMessages(one!.text);
      for (const message of messages.slice(0, -1)) decoder.push(message, out);
      expect(of(out, 'response.reasoning.delta')).to.have.length(93);
      const error = brokenBy(() => decoder.push(messages.at(-1)!, out));
      expect(error).to.be.an.instanceOf(LLMInvalidRequestError);
      expect(error)
        .to.include({ vendorCode: 'tool_use_failed' })
        .and.match(/The model wrote: \{"name": "get_something_by_name"/);
    });

    it('azure-chat-stream-text-a 1: passes on the chunk that only Azure sends, and takes the id from the next', () => {
      const one = COMPLETE_STREAMS.find(({ name }) => name === 'azure-chat-stream-text-a 1')!;
      const [first, created] = decodeEvents(sseMessages(one.text), responseContextFor(one));
      expect(first).to.have.property('type', 'vendor.event');
      expect((first as Event<'vendor.event'>).raw).to.have.property('prompt_filter_results');
      expect(created).to.include({ type: 'response.created', id: 'chatcmpl-BuBnK8LTKUtp70pLip5ZGv7HUzYPj' });
    });
  });

  describe('text', () => {
    it('emits text with the chunk that contains it', () => {
      const decoder = new ChatCompletionsDecoder(chatResponseContext());
      const out: ResponseStreamEvent[] = [];
      decoder.push({ data: JSON.stringify(chunk({ role: 'assistant', content: '' })) }, out);
      expect(out.map(({ type }) => type)).to.deep.equal(['response.created']);
      decoder.push({ data: JSON.stringify(chunk({ content: 'a' })) }, out);
      decoder.push({ data: JSON.stringify(chunk({ content: 'b' })) }, out);
      expect(out.slice(1).map((event) => ('delta' in event ? event.delta : event.type))).to.deep.equal([
        'response.output_item.added',
        'a',
        'b',
      ]);
    });

    it('emits refusals', () => {
      const events = streamed(
        chunk({ role: 'assistant', content: null, refusal: 'I ' }),
        chunk({ refusal: 'can’t.' }),
        end(),
      );
      expect(of(events, 'response.refusal.delta').map(({ delta }) => delta)).to.deep.equal(['I ', 'can’t.']);
      expect(responseIn(events)).to.deep.include({
        status: 'incomplete',
        incomplete_details: { reason: 'content_filter' },
      });
    });

    it('emits text after reasoning, which may come in two fields', () => {
      const events = streamed(
        chunk({ reasoning: 'h', reasoning_content: 'h' }),
        chunk({ reasoning: 'm', reasoning_content: 'm' }),
        chunk({ content: 'x' }),
        end(),
      );
      expect(
        of(events, 'response.reasoning.delta').map(({ delta, output_index, summary }) => [
          delta,
          output_index,
          summary,
        ]),
      ).to.deep.equal([
        ['h', 0, false],
        ['m', 0, false],
      ]);
      expect(of(events, 'response.output_text.delta')[0]?.output_index).to.equal(1);
      expect(responseIn(events).output.map(({ type }) => type)).to.deep.equal(['reasoning', 'message']);
    });

    it('emits the texts and the reasoning of content parts', () => {
      const thought = (text: string): JsonObject => ({ type: 'thinking', thinking: [{ type: 'text', text }] });
      const events = streamed(
        chunk({ content: [thought('h')] }),
        chunk({ content: [thought('m')] }),
        chunk({ content: [{ type: 'text', text: 'a' }] }),
        chunk({ content: 'b' }),
        end(),
      );
      expect(of(events, 'response.reasoning.delta').map(({ delta }) => delta)).to.deep.equal(['h', 'm']);
      expect(of(events, 'response.output_item.done').map(({ item }) => item.type)).to.deep.equal([
        'reasoning',
        'message',
      ]);
      expect(responseIn(events).output[0]).to.deep.include({ content: [{ type: 'reasoning_text', text: 'hm' }] });
      expect(of(events, 'response.output_text.delta').map(({ delta }) => delta)).to.deep.equal(['a', 'b']);
      expect(responseIn(events).output_text).to.equal('ab');
    });

    it('emits citations', () => {
      const events = streamed(
        chunk({ content: 'x' }),
        chunk({ annotations: [{ type: 'url_citation', url_citation: { url: 'u' } }] }),
        end(),
      );
      expect(of(events, 'response.annotation.added').map(({ annotation }) => annotation)).to.deep.equal([
        { type: 'url_citation', url: 'u' },
      ]);
      expect(responseIn(events).output[0]).to.deep.include({
        content: [{ type: 'output_text', text: 'x', annotations: [{ type: 'url_citation', url: 'u' }] }],
      });
    });
  });

  describe('tool calls', () => {
    const begin = (index: number, id = `call_${index}`): JsonObject => ({
      index,
      id,
      type: 'function',
      function: { name: `tool_${index}`, arguments: '' },
    });
    const more = (index: number, text: string): JsonObject => ({ index, function: { arguments: text } });
    const AB = [
      { call_id: 'call_0', arguments: '{"a":1}' },
      { call_id: 'call_1', arguments: '{"b":2}' },
    ];
    function facts(calls: readonly FunctionCallItem[]): readonly JsonObject[] {
      return calls.map(({ call_id, arguments: text }) => ({ call_id, arguments: text }));
    }

    it('announces calls at once, and completes them only at the end marker', () => {
      const decoder = new ChatCompletionsDecoder(chatResponseContext());
      const out: ResponseStreamEvent[] = [];
      decoder.push({ data: JSON.stringify(fragments(begin(0))) }, out);
      expect(of(out, 'response.tool_use.announced')).to.deep.equal([
        { type: 'response.tool_use.announced', output_index: 0, call_id: 'call_0', name: 'tool_0' },
      ]);
      decoder.push({ data: JSON.stringify(fragments(more(0, '{}'))) }, out);
      decoder.push({ data: JSON.stringify(end('tool_calls')) }, out);
      expect(of(out, 'response.tool_use.done')).to.deep.equal([]);
      decoder.push({ data: '[DONE]' }, out);
      expect(of(out, 'response.tool_use.done')).to.have.length(1);
    });

    it('separates interleaved calls by their index', () => {
      expect(
        facts(
          callsIn(
            fragments(begin(0)),
            fragments(begin(1)),
            fragments(more(1, '{"b"'), more(0, '{"a"')),
            fragments(more(0, ':1}')),
            fragments(more(1, ':2}')),
          ),
        ),
      ).to.deep.equal(AB);
    });

    it('orders calls by their index, whichever came first', () => {
      expect(
        facts(callsIn(fragments(begin(1), more(1, '{"b":2}')), fragments(begin(0), more(0, '{"a":1}')))),
      ).to.deep.equal(AB);
    });

    it('accepts fragments that repeat id and name', () => {
      const again = (index: number, text: string): JsonObject => ({
        ...begin(index),
        function: { name: `tool_${index}`, arguments: text },
      });
      const calls = callsIn(fragments(again(0, '{"a"')), fragments(again(0, ':1}')), fragments(again(1, '{"b":2}')));
      expect(facts(calls)).to.deep.equal(AB);
      expect(calls[0]?.name).to.equal('tool_0');
    });

    it('accepts calls without an index, or all with the same', () => {
      const completeCall = (id: string, text: string, fields: JsonObject = {}): JsonObject => ({
        id,
        type: 'function',
        function: { name: 'look', arguments: text },
        ...fields,
      });
      expect(
        facts(callsIn(fragments(completeCall('call_0', '{"a":1}')), fragments(completeCall('call_1', '{"b":2}')))),
      ).to.deep.equal(AB);
      expect(
        facts(callsIn(fragments(completeCall('call_0', '{"a":1}'), completeCall('call_1', '{"b":2}')))),
      ).to.deep.equal(AB);
      expect(
        facts(
          callsIn(
            fragments(completeCall('call_0', '{"a":1}', { index: 0 })),
            fragments(completeCall('call_1', '{"b"', { index: 0 })),
            fragments(more(0, ':2}')),
          ),
        ),
      ).to.deep.equal(AB);
      expect(
        facts(callsIn(fragments(completeCall('call_0', '{"a"')), fragments({ function: { arguments: ':1}' } }))),
      ).to.deep.equal([AB[0]]);
    });

    it('without index and id, starts a new call at a name after complete arguments', () => {
      const named = (text: string): JsonObject => ({ function: { name: 'look', arguments: text } });
      expect(
        callsIn(fragments(named('{"a"')), fragments(named(':1}')), fragments(named('{"b":2}'))).map(
          (call) => call.arguments,
        ),
      ).to.deep.equal(['{"a":1}', '{"b":2}']);
    });

    it('generates a missing id, the same in the announcement and in the response', () => {
      const events = streamed(
        fragments({ index: 0, function: { name: 'look', arguments: '{' } }),
        fragments({ index: 0, function: { arguments: '}' } }),
        fragments({ index: 1, function: { name: 'go', arguments: '{}' } }),
        end('tool_calls'),
      );
      const ids = ['chatcmpl-1_call_0', 'chatcmpl-1_call_1'];
      expect(of(events, 'response.tool_use.announced').map(({ call_id }) => call_id)).to.deep.equal(ids);
      expect(of(events, 'response.tool_use.done').map(({ item }) => item.call_id)).to.deep.equal(ids);
    });

    it('accepts arguments as an object, or none at all', () => {
      const calls = callsIn(
        fragments({ ...begin(0), function: { name: 'look', arguments: { a: 1 } } }),
        fragments({ index: 1, id: 'call_1', function: { name: 'go' } }),
      );
      expect(calls.map((call) => call.arguments)).to.deep.equal(['{"a":1}', '{}']);
    });

    it('does not complete the calls of a truncated response', () => {
      const events = streamed(fragments(begin(0), more(0, '{"a')), end('length'));
      expect(of(events, 'response.tool_use.done')).to.deep.equal([]);
      expect(of(events, 'response.output_item.done')[0]?.item).to.include({
        type: 'function_call',
        status: 'incomplete',
      });
    });

    it('accepts calls in the deprecated form', () => {
      const events = streamed(
        chunk({ content: null, function_call: { name: 'look', arguments: '' } }),
        chunk({ function_call: { arguments: '{"a"' } }),
        chunk({ function_call: { arguments: ':1}' } }),
        end('function_call'),
      );
      expect(of(events, 'response.tool_use.announced')).to.have.length(1);
      expect(of(events, 'response.tool_use.done')[0]?.item).to.include({ name: 'look', arguments: '{"a":1}' });
      expectOrder(events);
    });

    it('accepts custom calls', () => {
      const events = streamed(
        fragments({ index: 0, id: 'call_0', type: 'custom', custom: { name: 'sh', input: '' } }),
        fragments({ index: 0, custom: { input: 'ls' } }),
        end('tool_calls'),
      );
      expect(responseIn(events).output).to.deep.include.members([
        { ...responseIn(events).output[0], type: 'custom_tool_call', name: 'sh', input: 'ls' },
      ]);
      expectOrder(events);
    });

    it('accepts calls before the text', () => {
      const events = streamed(fragments(begin(0), more(0, '{}')), chunk({ content: 'x' }), end('tool_calls'));
      expectOrder(events);
      expect(responseIn(events).output.map(({ type }) => type)).to.deep.equal(['message', 'function_call']);
    });
  });

  describe('usage', () => {
    it('accepts usage after the end, without choices', () => {
      const events = streamed(chunk({ content: 'x' }), end(), { ...chunk({}), choices: [], usage: USAGE });
      expect(of(events, 'response.usage').map(({ usage }) => usage.total_tokens)).to.deep.equal([3]);
      expect(responseIn(events).usage.total_tokens).to.equal(3);
    });

    it('accepts usage inside x_groq, and preserves its other fields', () => {
      const response = responseIn(
        streamed(
          chunk({ content: 'x' }, { x_groq: { id: 'req_1', seed: 7 } }),
          end('stop', { x_groq: { id: 'req_1', usage: USAGE, usage_breakdown: { models: [] } } }),
        ),
      );
      expect(response.usage.total_tokens).to.equal(3);
      expect(response.vendor.fields).to.deep.include({
        x_groq: { id: 'req_1', seed: 7 },
        usage_breakdown: { models: [] },
      });
    });

    it('accepts usage in every chunk, of which the last counts', () => {
      const events = streamed(
        chunk({ content: 'x' }, { usage: { ...USAGE, total_tokens: 1 } }),
        end('stop', { usage: USAGE }),
      );
      expect(of(events, 'response.usage').map(({ usage }) => usage.total_tokens)).to.deep.equal([1, 3]);
      expect(responseIn(events).vendor.usage).to.deep.equal(USAGE);
    });

    it('accepts missing usage, with a warning', () => {
      expect(responseIn(streamed(chunk({ content: 'x' }), end())).vendor.warnings).to.deep.equal([
        'openai reported no usage; its tokens count as zero.',
      ]);
    });
  });

  describe('other fields', () => {
    function fieldsOf(response: LLMResponse): JsonObject {
      const [choice] = writeChatCompletions(response).choices as readonly JsonObject[];
      return choice!;
    }

    it('assembles them as in a response without streaming', () => {
      const choice = fieldsOf(
        responseIn(
          streamed(
            chunk(
              { role: 'assistant', content: 'a', channel: 'final' },
              { obfuscation: 'x', service_tier: 'default' },
              {
                logprobs: { content: [{ token: 'a' }], refusal: null },
                content_filter_results: { hate: { filtered: false } },
              },
            ),
            chunk(
              { content: 'b', reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'h' }] },
              {},
              { logprobs: { content: [{ token: 'b' }], refusal: null }, content_filter_results: {} },
            ),
            chunk({
              reasoning_details: [{ index: 0, text: 'm', signature: 's' }],
              audio: { id: 'audio_1', data: 'AA', transcript: 'a' },
            }),
            chunk({ audio: { data: 'BB', transcript: 'b', expires_at: 9 } }),
            end('stop', { service_tier: null }),
          ),
        ),
      );
      expect(choice).to.deep.equal({
        index: 0,
        finish_reason: 'stop',
        logprobs: { content: [{ token: 'a' }, { token: 'b' }], refusal: null },
        content_filter_results: { hate: { filtered: false } },
        message: {
          role: 'assistant',
          content: 'ab',
          reasoning_details: [{ index: 0, type: 'reasoning.text', text: 'hm', signature: 's' }],
          audio: { id: 'audio_1', data: 'AABB', transcript: 'ab', expires_at: 9 },
        },
      });
    });

    it('passes on a chunk without a domain equivalent', () => {
      const events = streamed(
        chunk({ audio: { id: 'audio_1', data: 'AA' } }),
        chunk({ content: 'x', extra: 1 }),
        end(),
        { ...chunk({}), choices: [], citations: ['u'] },
      );
      expect(of(events, 'vendor.event').map(({ raw }) => raw)).to.deep.equal([
        chunk({ audio: { id: 'audio_1', data: 'AA' } }),
        { ...chunk({}), choices: [], citations: ['u'] },
      ]);
      expect(responseIn(events).vendor.fields).to.deep.include({ citations: ['u'] });
    });

    it('emits a tool that Groq runs when it starts, and completes it when it is done', () => {
      const search = { index: 0, type: 'search', arguments: '{"query":"w"}' };
      const events = streamed(
        chunk({ reasoning: 'hm' }, { id: 'a' }),
        chunk({ executed_tools: [{ ...search, search_results: { results: [] } }] }, { id: 'b' }),
        chunk(
          { executed_tools: [{ ...search, output: 'sunny', search_results: { results: [{ url: 'u' }] } }] },
          { id: 'c' },
        ),
        chunk({ content: 'Sunny.' }, { id: 'd' }),
        end('stop', { id: 'stub' }),
      );
      expectOrder(events);
      const response = responseIn(events);
      expect(response.id).to.equal('a');
      expect(response.output.map(({ type }) => type)).to.deep.equal(['reasoning', 'vendor_item', 'message']);
      expect(response.output[1]).to.have.deep.property('item', {
        ...search,
        output: 'sunny',
        search_results: { results: [{ url: 'u' }] },
      });
      expect(
        of(events, 'response.output_item.done').map(({ output_index, item }) => [output_index, item.type]),
      ).to.deep.equal([
        [0, 'reasoning'],
        [1, 'vendor_item'],
        [2, 'message'],
      ]);
    });

    it('ignores further choices', () => {
      const other = (delta: JsonObject, finish_reason: string | null = null): JsonObject => ({
        ...chunk({}),
        choices: [{ index: 1, delta, finish_reason }],
      });
      const events = streamed(
        other({ content: 'no' }),
        chunk({ content: 'yes' }),
        other({ tool_calls: [{ index: 0, id: 'c', function: { name: 'x' } }] }),
        end(),
        other({}, 'stop'),
      );
      expect(of(events, 'response.output_text.delta').map(({ delta }) => delta)).to.deep.equal(['yes']);
      expect(of(events, 'response.tool_use.announced')).to.deep.equal([]);
      expect(responseIn(events).vendor.warnings[0]).to.match(/2 choices/);
    });

    it('ignores everything after the end marker', () => {
      const decoder = new ChatCompletionsDecoder(chatResponseContext());
      const out: ResponseStreamEvent[] = [];
      for (const message of [...streamOf(chunk({ content: 'x' }), end()), { data: '[DONE]' }, { data: 'rubbish' }])
        decoder.push(message, out);
      decoder.end(out);
      expect(of(out, 'response.completed')).to.have.length(1);
    });
  });

  describe('invalid streams', () => {
    it('throws an error chunk, whatever follows it', () => {
      const error = { message: 'The server had an error', type: 'server_error', code: 'rate_limit_exceeded' };
      expect(
        brokenBy(() =>
          streamed(
            chunk({ content: 'x' }),
            { error },
            { ...chunk({}), choices: [], usage: { ...USAGE, total_tokens: 0 } },
          ),
        ),
      ).to.be.an.instanceOf(LLMRateLimitError);
      expect(
        brokenBy(() => streamed(chunk({ content: 'x' }, {}, { error, finish_reason: 'error' }))),
      ).to.be.an.instanceOf(LLMRateLimitError);
    });

    it('throws an error event, JSON or not', () => {
      const decoder = new ChatCompletionsDecoder(chatResponseContext());
      expect(brokenBy(() => decoder.push({ event: 'error', data: 'upstream went away' }, [])))
        .to.satisfy(isLLMError)
        .and.match(/upstream went away/);
      expect(brokenBy(() => decoder.push({ event: 'error', data: '{"message":"gone"}' }, [])))
        .to.satisfy(isLLMError)
        .and.match(/gone/);
    });

    it("throws Groq's reason for stopping early", () => {
      expect(brokenBy(() => streamed(chunk({ content: 'x' }, { x_groq: { error: 'over capacity' } }))))
        .to.satisfy(isLLMError)
        .and.match(/over capacity/);
    });

    it('rejects an invalid chunk', () => {
      const NO_CHUNKS: readonly (readonly [string, RegExp])[] = [
        ['{"id":', /not JSON/],
        ['<html>', /an HTML or XML page/],
        ['null', /null/],
        ['[]', /an array/],
        ['"x"', /plain text/],
      ];
      for (const [data, what] of NO_CHUNKS)
        expect(brokenBy(() => streamed(data)))
          .to.be.an.instanceOf(LLMStreamError)
          .and.match(what);
    });

    it('takes an end marker after usage for the end, as a host of OpenRouter ended without a finish reason', () => {
      // https://github.com/simonw/llm/tree/main/tests/cassettes/test_tools_streaming
      const call = { index: 0, id: '0', type: 'function', function: { name: 'f', arguments: '{}' } };
      const events = streamed(fragments(call), chunk({ content: '' }, { usage: USAGE }));
      expect(of(events, 'response.tool_use.done')).to.have.length(1);
      expect(responseIn(events)).to.include({ status: 'completed' });
    });

    it('rejects an end marker without a finish reason', () => {
      expect(brokenBy(() => streamed(chunk({ content: 'x' }))))
        .to.be.an.instanceOf(LLMStreamError)
        .and.match(/finish_reason/);
      const lenient = chatResponseContext('openai_compatible', {
        quirks: quirksFor('openai_compatible', { allowsNullFinishReason: true }),
      });
      const response = responseIn(decodeEvents(streamOf(chunk({ content: 'x' })), lenient));
      expect(response).to.include({ status: 'completed', output_text: 'x' });
      expect(response.vendor.warnings.join()).to.match(/no finish_reason/);
      expect(brokenBy(() => decodeEvents(streamOf(), lenient)))
        .to.be.an.instanceOf(LLMStreamError)
        .and.match(/no choices/);
    });

    it('rejects an empty stream', () => {
      expect(brokenBy(() => new ChatCompletionsDecoder(chatResponseContext()).end([]))).to.be.an.instanceOf(
        LLMStreamError,
      );
    });
  });
});

/** Each output index starts once, before any other event with it, and ends once, after all others. */
function expectOrder(events: readonly ResponseStreamEvent[]): void {
  const open = new Set<number>();
  const closed = new Set<number>();
  for (const event of events) {
    if (!('output_index' in event)) continue;
    const { output_index, type } = event;
    expect(closed.has(output_index), `${type} after the end of ${output_index}`).to.equal(false);
    if (type === 'response.output_item.added') {
      expect(output_index, 'places count up').to.equal(open.size);
      open.add(output_index);
    } else {
      expect(open.has(output_index), `${type} before the beginning of ${output_index}`).to.equal(true);
    }
    if (type === 'response.output_item.done') closed.add(output_index);
  }
  expect(closed).to.deep.equal(open);
}
