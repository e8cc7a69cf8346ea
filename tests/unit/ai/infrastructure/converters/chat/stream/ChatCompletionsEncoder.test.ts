/** Encoding domain events as a chat completion stream. */
import { expect } from 'chai';
import {
  LLMOverloadedError,
  LLMRateLimitError,
  LLMStreamError,
} from '../../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type {
  FunctionCallItem,
  LLMResponse,
  OutputItem,
} from '../../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../../../../../imports/business/ai/domain/types/VendorTypes';
import { fieldsOf } from '../../../../../../../imports/business/ai/domain/util/json';
import { writeChatCompletions } from '../../../../../../../imports/business/ai/infrastructure/converters/chat/gateway/ChatCompletionsGateway';
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
import { CHECKS, framesIn } from '../../../../../../support/streamGrammar';

const HEAD = { id: 'resp_1', object: 'chat.completion.chunk', created: 1_760_000_000, model: 'a-model' };

function deltasOf(events: readonly JsonObject[]): readonly unknown[] {
  return events.flatMap(({ choices }) => (choices as JsonObject[]).map(({ delta }) => delta));
}

function finishOf(events: readonly JsonObject[]): unknown {
  return events
    .flatMap(({ choices }) => choices as JsonObject[])
    .findLast(({ finish_reason }) => finish_reason !== null)?.finish_reason;
}

describe('ChatCompletionsEncoder', () => {
  it('starts with the role, writes each delta as one frame at once, and ends with the finish reason and the end marker', () => {
    const encoder = createStreamEncoder('openai', ENCODER_OPTIONS);
    const choice = (delta: JsonObject, finish_reason: string | null = null): readonly string[] => [
      `data: ${JSON.stringify({ ...HEAD, choices: [{ index: 0, delta, finish_reason }] })}\n\n`,
    ];
    expect(encoder.push(CREATED_EVENT)).to.deep.equal(choice({ role: 'assistant', content: '' }));
    for (const delta of ['Hel', 'lo "you"\n', '\u{1f30d}', '\u2028'])
      expect(encoder.push(textDelta(delta))).to.deep.equal(choice({ content: delta }));
    expect(encoder.push(completed('gemini'))).to.deep.equal(choice({}, 'stop'));
    expect(encoder.end()).to.deep.equal(['data: [DONE]\n\n']);
    expect(encoder.end()).to.deep.equal([]);
    expect(encoder.push(textDelta('late'))).to.deep.equal([]);
    expect(encoder.fail(new LLMStreamError('late'))).to.deep.equal([]);
  });

  it('writes each call in one delta, numbered in order of completion', () => {
    const calls = [
      callItem({ name: 'first', call_id: 'a', arguments: '{"x":1.0}' }),
      callItem({ name: 'second', call_id: 'b', arguments: '' }),
    ];
    const events = encodedEvents('openai', eventsOf({ ...calling(), output: calls }));
    expect(deltasOf(events).slice(1, -1)).to.deep.equal([
      { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'first', arguments: '{"x":1.0}' } }] },
      { tool_calls: [{ index: 1, id: 'b', type: 'function', function: { name: 'second', arguments: '{}' } }] },
    ]);
    expect(finishOf(events)).to.equal('tool_calls');
  });

  it('writes no call for a search that xAI made itself', () => {
    // https://docs.x.ai/developers/tools/overview
    const search: OutputItem = {
      type: 'custom_tool_call',
      call_id: 'xs_call_1',
      name: 'x_keyword_search',
      input: '{}',
      origin: { wire: 'responses', vendor: 'grok' },
    };
    const response = answer('Hi', { output: [search, textItem('Hi')] });
    const events = encodedEvents('openai', eventsOf(response));
    expect(finishOf(events)).to.equal('stop');
    expect(deltasOf(events)).to.deep.equal([{ role: 'assistant', content: '' }, { content: 'Hi' }, {}]);
    const { choices } = writeChatCompletions(response);
    expect(choices).to.have.nested.property('[0].finish_reason', 'stop');
    expect(choices).not.to.have.nested.property('[0].message.tool_calls');
  });

  it('writes usage in a last chunk without choices, only on request', () => {
    const stream = eventsOf(
      answer('Hi', {
        usage: {
          ...usage(7, 3),
          input_tokens_details: { cached_tokens: 2, cache_write_tokens: 0 },
          output_tokens_details: { reasoning_tokens: 1 },
        },
      }),
    );
    expect(encodedEvents('openai', stream).filter((chunk) => 'usage' in chunk)).to.deep.equal([]);
    const last = encodedEvents('openai', stream, { includeUsage: true }).at(-1)!;
    expect(last.choices).to.deep.equal([]);
    expect(last.usage).to.deep.equal({
      prompt_tokens: 7,
      completion_tokens: 3,
      total_tokens: 10,
      prompt_tokens_details: { cached_tokens: 2 },
      completion_tokens_details: { reasoning_tokens: 1 },
    });
  });

  const endings: readonly (readonly [string, Partial<LLMResponse>, string])[] = [
    ['a response', {}, 'stop'],
    ['a truncated response', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'length'],
    [
      'a filtered response',
      { status: 'incomplete', incomplete_details: { reason: 'content_filter' } },
      'content_filter',
    ],
  ];
  for (const [what, fields, word] of endings) {
    it(`ends ${what} of another wire with ${word}`, () => {
      const { vendor: _, ...others } = fields;
      expect(
        finishOf(encodedEvents('openai', [CREATED_EVENT, textDelta('Hi'), completed('anthropic_messages', others)])),
      ).to.equal(word);
    });
  }

  it('preserves any finish reason of the chat wire', () => {
    expect(
      finishOf(
        encodedEvents('openai', [CREATED_EVENT, completed('chat_completions', { vendor: { finish_reason: 'eos' } })]),
      ),
    ).to.equal('eos');
    expect(
      finishOf(
        encodedEvents('openai', [
          CREATED_EVENT,
          completed('anthropic_messages', { vendor: { finish_reason: 'pause_turn' } }),
        ]),
      ),
    ).to.equal('stop');
  });

  it('writes reasoning to the field that the client reads, the parts of a summary as paragraphs', () => {
    const stream = [
      CREATED_EVENT,
      reasoningDelta('One.', 0, true),
      reasoningDelta('Two', 0, true, 1),
      reasoningDelta('.', 0, true, 1),
      textDelta('Hi', 1),
      completed('responses'),
    ];
    expect(deltasOf(encodedEvents('openai', stream)).slice(1, -2)).to.deep.equal([
      { reasoning_content: 'One.' },
      { reasoning_content: '\n\nTwo' },
      { reasoning_content: '.' },
    ]);
    expect(deltasOf(encodedEvents('openai', stream, { reasoningField: 'reasoning' }))[1]).to.deep.equal({
      reasoning: 'One.',
    });
  });

  it('writes refusals and citations as they arrive', () => {
    const citation = { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 0, end_index: 2 };
    const stream = [
      CREATED_EVENT,
      textDelta('Hi'),
      { type: 'response.annotation.added', output_index: 0, annotation: citation } as const,
      // The format has no citations of files.
      {
        type: 'response.annotation.added',
        output_index: 0,
        annotation: { type: 'file_citation', file_id: 'file_1', index: 1, filename: 'a.pdf' },
      } as const,
      {
        type: 'response.annotation.added',
        output_index: 0,
        annotation: { type: 'place_citation', place_id: 'p', name: 'P', start_index: 0, end_index: 1 },
      } as const,
      { type: 'response.refusal.delta', output_index: 0, delta: 'No.' } as const,
      completed('responses'),
    ];
    const { type, ...inner } = citation;
    expect(deltasOf(encodedEvents('openai', stream)).slice(2, 4)).to.deep.equal([
      { annotations: [{ type, [type]: inner }] },
      { refusal: 'No.' },
    ]);
  });

  it("writes pages once, and none of Gemini's documents beside them", () => {
    const page = { type: 'url_citation', url: 'u', title: 'T', start_index: 0, end_index: 2 };
    const document = { type: 'file_citation', filename: 'plan.txt', start_index: 0, end_index: 2 };
    const annotations = [page, document, { ...document, cited_text: 'It is Chimera.' }];
    const content = [{ type: 'output_text', text: 'Hi', annotations }] as const;
    const deltas = deltasOf(
      encodedEvents('openai', [
        CREATED_EVENT,
        textDelta('Hi'),
        ...annotations.map(
          (annotation) => ({ type: 'response.annotation.added', output_index: 0, annotation }) as const,
        ),
        { type: 'response.output_item.done', output_index: 0, item: { type: 'message', role: 'assistant', content } },
        completed('gemini'),
      ]),
    );
    expect(deltas.filter((delta) => fieldsOf(delta).annotations !== undefined)).to.have.lengthOf(1);
  });

  it('writes the ranges of citations in the entire content, also in a later message', () => {
    const annotation = { type: 'url_citation', url: 'u', title: 'T', start_index: 1, end_index: 3 };
    const deltas = deltasOf(
      encodedEvents('openai', [
        CREATED_EVENT,
        textDelta('Hm. '),
        { type: 'response.output_item.done', output_index: 0, item: textItem('Hm. ') },
        textDelta('I say', 1),
        { type: 'response.annotation.added', output_index: 1, annotation },
        completed('responses'),
      ]),
    );
    expect(deltas[3]).to.deep.equal({
      annotations: [{ type: 'url_citation', url_citation: { url: 'u', title: 'T', start_index: 5, end_index: 7 } }],
    });
  });

  it('writes citations that have a quote but no range once their text is complete', () => {
    const cited = { type: 'url_citation', url: 'u', title: 'T', cited_text: 'q' };
    const page = { type: 'file_citation', index: 0, filename: 'a.pdf', cited_text: 'c', start_page: 1, end_page: 2 };
    const parts = [
      { type: 'output_text', text: 'I ', annotations: [] },
      { type: 'output_text', text: 'say', annotations: [cited, page] },
    ] as const;
    const deltas = deltasOf(
      encodedEvents('openai', [
        CREATED_EVENT,
        textDelta('Hm. '),
        { type: 'response.output_item.done', output_index: 0, item: textItem('Hm. ') },
        textDelta('I ', 1),
        { type: 'response.annotation.added', output_index: 1, annotation: cited, content_index: 1 },
        { type: 'response.annotation.added', output_index: 1, annotation: page, content_index: 1 },
        textDelta('say', 1, 1),
        {
          type: 'response.output_item.done',
          output_index: 1,
          item: { type: 'message', role: 'assistant', content: parts },
        },
        completed('anthropic_messages'),
      ]),
    );
    expect(deltas.slice(2, 5)).to.deep.equal([
      { content: 'I ' },
      { content: 'say' },
      {
        annotations: [
          {
            type: 'url_citation',
            url_citation: { url: 'u', title: 'T', cited_text: 'q', start_index: 6, end_index: 9 },
          },
        ],
      },
    ]);
  });

  it('writes a failure as an error object without the end marker, whatever its message contains', () => {
    const text = encodedFailure(
      'openai',
      [CREATED_EVENT, textDelta('Hi')],
      new LLMStreamError('no end marker [DONE] came'),
    );
    const last = framesIn(text).at(-1)!;
    expect(JSON.parse(last.data)).to.deep.equal({
      error: { message: 'no end marker [DONE] came', type: 'server_error', param: null, code: 'stream-broken' },
    });
    expect(text).not.to.include('[DONE]');
    expect(
      JSON.parse(framesIn(encodedFailure('openai', [], new LLMRateLimitError('slow down'))).at(-1)!.data),
    ).to.deep.include({ error: { message: 'slow down', type: 'rate_limit_error', param: null, code: 'rate-limited' } });
  });

  it('treats a stream without a completed response as failed', () => {
    const encoder = createStreamEncoder('openai', ENCODER_OPTIONS);
    encoder.push(CREATED_EVENT);
    const frames = encoder.end();
    expect(frames.length).to.equal(1);
    expect(frames[0]).to.match(/^data: \{"error":/);
    expect(encoder.end()).to.deep.equal([]);
  });

  it('ends with the error of a failed event', () => {
    const encoder = createStreamEncoder('openai', ENCODER_OPTIONS);
    expect(encoder.push({ type: 'response.failed', error: new LLMOverloadedError('busy') })).to.deep.equal([
      'data: {"error":{"message":"busy","type":"server_error","param":null,"code":"overloaded"}}\n\n',
    ]);
    expect(encoder.end()).to.deep.equal([]);
  });

  it('writes the text of an item without deltas', () => {
    const events = encodedEvents('openai', [
      CREATED_EVENT,
      { type: 'response.output_item.done', output_index: 0, item: textItem('Complete.') },
      completed('responses'),
    ]);
    expect(deltasOf(events)).to.deep.include({ content: 'Complete.' });
    const encodedChunks = encodedEvents('openai', [
      CREATED_EVENT,
      textDelta('Complete.'),
      { type: 'response.output_item.done', output_index: 0, item: textItem('Complete.') },
      completed('responses'),
    ]);
    expect(deltasOf(encodedChunks)).to.deep.equal([{ role: 'assistant', content: '' }, { content: 'Complete.' }, {}]);
  });

  it('announces a call in a chunk without other content, on request', () => {
    const stream = eventsOf({ ...calling({ name: 'look', call_id: 'c1' }), id: 'resp_1', model: 'a-model' });
    expect(encoded('openai', stream)).not.to.include('announced');
    const announced = encodedEvents('openai', stream, { emitFunctionAnnouncements: true }).filter(
      (chunk) => 'tool_use_announced' in chunk,
    );
    expect(announced).to.deep.equal([
      {
        ...HEAD,
        choices: [{ index: 0, delta: {}, finish_reason: null }],
        tool_use_announced: { id: 'c1', name: 'look' },
      },
    ]);
  });

  describe('for streams of the same wire', () => {
    const origin = { wire: 'chat_completions', vendor: 'azure_openai' } as const;

    it('relays fields without an event once the response has an id, without fragments of calls', () => {
      const early = {
        id: '',
        object: '',
        created: 0,
        model: '',
        choices: [],
        prompt_filter_results: [{ prompt_index: 0 }],
      };
      const late = {
        ...HEAD,
        choices: [{ index: 0, delta: { mood: 'calm', tool_calls: [{ index: 0, function: { arguments: '{"half' } }] } }],
      };
      const events = encodedEvents('openai', [
        { type: 'vendor.event', origin, raw: early },
        CREATED_EVENT,
        { type: 'vendor.event', origin, raw: late },
        completed('chat_completions'),
      ]);
      expect(events.slice(0, 3)).to.deep.equal([
        { ...HEAD, choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }] },
        { ...HEAD, choices: [], prompt_filter_results: [{ prompt_index: 0 }] },
        { ...HEAD, choices: [{ index: 0, delta: { mood: 'calm' }, finish_reason: null }] },
      ]);
    });

    it("ignores other wires' events", () => {
      const events = encodedEvents('openai', [
        CREATED_EVENT,
        { type: 'vendor.event', origin: { wire: 'gemini' }, raw: { strange: true } },
        completed('gemini'),
      ]);
      expect(JSON.stringify(events)).not.to.include('strange');
    });

    it('adds unsent fields to the last chunk, and further choices in one piece', () => {
      const fields = {
        system_fingerprint: 'fp_1',
        x_new: { a: 1 },
        choices: [
          {
            index: 0,
            finish_reason: 'stop',
            logprobs: { refusal: null },
            stop_token: 7,
            message: { role: 'assistant', mood: 'calm' },
          },
          { index: 1, finish_reason: 'length', message: { role: 'assistant', content: 'Other' } },
        ],
      };
      const item: OutputItem = {
        type: 'message',
        role: 'assistant',
        content: [{ type: 'output_text', text: 'Hi', annotations: [], logprobs: [{ token: 'Hi', logprob: -1 }] }],
      };
      const events = encodedEvents('openai', [
        CREATED_EVENT,
        textDelta('Hi'),
        completed('chat_completions', { output: [item], output_text: 'Hi', vendor: { finish_reason: 'stop', fields } }),
      ]);
      expect(events.at(-1)).to.deep.equal({
        ...HEAD,
        system_fingerprint: 'fp_1',
        x_new: { a: 1 },
        choices: [
          {
            index: 0,
            delta: { mood: 'calm' },
            finish_reason: 'stop',
            logprobs: { refusal: null, content: [{ token: 'Hi', logprob: -1 }] },
            stop_token: 7,
          },
          { index: 1, delta: { role: 'assistant', content: 'Other' }, finish_reason: 'length' },
        ],
      });
    });

    it('relays no finish reason before the last chunk, and no null in place of a later value', () => {
      // OpenRouter's chunks have the field all along: https://openrouter.ai/docs/api/reference/overview
      const choice = { index: 0, delta: { mood: 'calm' }, native_finish_reason: null };
      const early = { ...HEAD, choices: [{ ...choice, finish_reason: 'stop' }], usage: { prompt_tokens: 1 } };
      const fields = { choices: [{ index: 0, finish_reason: 'stop', native_finish_reason: 'end_turn', message: {} }] };
      const events = encodedEvents('openai', [
        CREATED_EVENT,
        { type: 'vendor.event', origin, raw: early },
        completed('chat_completions', { vendor: { finish_reason: 'stop', fields } }),
      ]);
      expect(events.slice(1)).to.deep.equal([
        { ...HEAD, choices: [{ ...choice, finish_reason: null }] },
        {
          ...HEAD,
          choices: [{ index: 0, delta: {}, finish_reason: 'stop', native_finish_reason: 'end_turn' }],
        },
      ]);
    });

    it("writes calls in the vendor's form: unknown fields, custom calls, the deprecated form", () => {
      const own: FunctionCallItem = {
        type: 'function_call',
        call_id: 'a',
        name: 'f',
        arguments: '{}',
        vendor: { openai: { from: 'x', cache: 'yes', function: { strict: true } } },
      };
      const custom: OutputItem = {
        type: 'custom_tool_call',
        call_id: 'b',
        name: 'g',
        input: 'free text',
        vendor: { openai: { from: 'x' } },
      };
      const legacy: FunctionCallItem = {
        type: 'function_call',
        call_id: 'c',
        name: 'h',
        arguments: '{"a":1}',
        vendor: { openai: { from: 'x', legacy: true } },
      };
      const events = encodedEvents('openai', [
        CREATED_EVENT,
        { type: 'response.tool_use.done', output_index: 0, item: own },
        { type: 'response.output_item.done', output_index: 1, item: custom },
        { type: 'response.tool_use.done', output_index: 2, item: legacy },
        completed('chat_completions', { vendor: { finish_reason: 'tool_calls' } }),
      ]);
      expect(deltasOf(events).slice(1, -1)).to.deep.equal([
        {
          tool_calls: [
            {
              index: 0,
              id: 'a',
              type: 'function',
              cache: 'yes',
              function: { strict: true, name: 'f', arguments: '{}' },
            },
          ],
        },
        { tool_calls: [{ index: 1, id: 'b', type: 'custom', custom: { name: 'g', input: 'free text' } }] },
        { function_call: { name: 'h', arguments: '{"a":1}' } },
      ]);
    });

    it('relays the tools that the vendor ran itself', () => {
      const item: OutputItem = {
        type: 'vendor_item',
        origin: { wire: 'chat_completions' },
        item: { type: 'search', output: 'found' },
      };
      expect(
        deltasOf(
          encodedEvents('openai', [
            CREATED_EVENT,
            { type: 'response.output_item.done', output_index: 0, item },
            completed('chat_completions'),
          ]),
        )[1],
      ).to.deep.equal({ executed_tools: [item.item] });
    });
  });

  it('follows the grammar if the stream never has an id', () => {
    const text = encoded('openai', [textDelta('Hi'), completed('responses')]);
    CHECKS.openai(text);
    expect(text).to.include('"id":"fallback_id"').and.to.include('"model":"asked-model"');
  });
});
