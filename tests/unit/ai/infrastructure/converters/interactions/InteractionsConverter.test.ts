import type { Interactions } from '@google/genai';
import { expect } from 'chai';
import { LLMError, UnsupportedFeatureError } from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { NormalizedOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../../imports/business/ai/domain/types/VendorTypes';
import { toInteractions } from '../../../../../../imports/business/ai/infrastructure/converters/interactions/InteractionsConverter';
import { fromInteractions } from '../../../../../../imports/business/ai/infrastructure/converters/interactions/response/response';
import { InteractionsDecoder } from '../../../../../../imports/business/ai/infrastructure/converters/interactions/stream/InteractionsDecoder';
import { contextOf, withResponseFields } from '../../../../../support/wireContexts';

const context = contextOf('google');
const answered = withResponseFields(context);
const PIXEL = 'iVBORw0KGgo=';

function convert(options: Partial<NormalizedOptions>, stream = false) {
  return toInteractions({ model: 'gemini-3.5-flash', input: [], ...options }, context, stream);
}

function read(body: Partial<Interactions.Interaction>): LLMResponse {
  return fromInteractions({ id: 'v1_a', status: 'completed', ...body }, answered);
}

function decode(events: readonly Interactions.InteractionSSEEvent[]): readonly ResponseStreamEvent[] {
  const decoder = new InteractionsDecoder(answered);
  const out: ResponseStreamEvent[] = [];
  for (const event of events) decoder.push({ event: event.event_type, data: JSON.stringify(event) }, out);
  decoder.push({ event: 'done', data: '[DONE]' }, out);
  decoder.end();
  return out;
}

function completedIn(events: readonly ResponseStreamEvent[]): LLMResponse {
  const last = events.at(-1);
  if (last?.type !== 'response.completed') throw new Error('The stream has no completed response.');
  return last.response;
}

/** Every kind of step that a model makes, as the SDK types them. */
const STEPS: readonly Interactions.Step[] = [
  { type: 'thought', signature: 'sig-1', summary: [{ type: 'text', text: 'Weather is asked for.' }] },
  { type: 'google_search_call', id: 's1', arguments: { queries: ['weather'] }, signature: 'sig-2' },
  { type: 'google_search_result', call_id: 's1', result: [{ search_suggestions: '<b>weather</b>' }] },
  {
    type: 'model_output',
    content: [
      {
        type: 'text',
        text: 'Grüße: sunny.',
        annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 9, end_index: 15 }],
      },
    ],
  },
  { type: 'function_call', id: 'call_1', name: 'get_weather', arguments: { city: 'Köln' } },
];

describe('InteractionsConverter', () => {
  it('stores nothing by default', () => {
    expect(
      convert({ input: [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }] }).body,
    ).to.deep.equal({
      model: 'gemini-3.5-flash',
      store: false,
      input: [{ type: 'user_input', content: [{ type: 'text', text: 'Hi' }] }],
    });
  });

  it('sends a chain, the background and streams in fields of their own', () => {
    const { body } = convert({ previous_response_id: 'v1_b', background: true }, true);
    expect(body).to.include({ previous_interaction_id: 'v1_b', background: true, store: true, stream: true });
  });

  it('joins leading instructions, and tags those in the middle', () => {
    const text = (role: 'system' | 'user', words: string) =>
      ({ type: 'message', role, content: [{ type: 'input_text', text: words }] }) as const;
    const { body, losses } = convert({
      instructions: 'One.',
      input: [text('system', 'Two.'), text('user', 'Hi'), text('system', 'Three.')],
    });
    expect(body.system_instruction).to.equal('One.\n\nTwo.');
    expect(JSON.stringify(body.input)).to.include('<system_instructions>');
    expect(losses.map(({ path }) => path)).to.deep.equal(['input[2]']);
  });

  it('maps sampling, thinking, tools, the choice and the format', () => {
    const { body, warnings } = convert({
      temperature: 0.5,
      top_p: 0.9,
      top_k: 3,
      seed: 7,
      max_output_tokens: 99,
      stop: ['END'],
      reasoning: { effort: 'xhigh', summary: 'auto' },
      tools: [
        { type: 'function', name: 'look', parameters: { type: 'object', properties: { at: { type: 'string' } } } },
        { type: 'mcp', server_label: 'docs', server_url: 'https://mcp.example', allowed_tools: ['find'] },
        { type: 'file_search', vector_store_ids: ['fileSearchStores/a'], max_num_results: 3 },
        { type: 'web_search' },
      ],
      tool_choice: { type: 'function', name: 'look' },
      response_format: { type: 'json_schema', schema: { type: 'object', properties: { a: { type: 'integer' } } } },
    });
    const expected: Partial<Interactions.CreateModelInteractionParamsNonStreaming> = {
      generation_config: {
        temperature: 0.5,
        top_p: 0.9,
        seed: 7,
        max_output_tokens: 99,
        stop_sequences: ['END'],
        tool_choice: { allowed_tools: { mode: 'any', tools: ['look'] } },
        thinking_level: 'high',
        thinking_summaries: 'auto',
      },
      tools: [
        {
          type: 'function',
          name: 'look',
          description: '',
          parameters: { type: 'object', properties: { at: { type: 'string' } } },
        },
        {
          type: 'mcp_server',
          name: 'docs',
          url: 'https://mcp.example',
          allowed_tools: [{ mode: 'auto', tools: ['find'] }],
        },
        { type: 'file_search', file_search_store_names: ['fileSearchStores/a'], top_k: 3 },
        { type: 'google_search' },
      ],
      response_format: {
        type: 'text',
        mime_type: 'application/json',
        schema: { type: 'object', properties: { a: { type: 'integer' } } },
      },
    };
    expect(body).to.deep.include(expected);
    expect(warnings).to.have.length(2);
    expect(warnings.join())
      .to.match(/top_k/)
      .and.to.match(/xhigh is sent as high/);
  });

  it('sends the levels of thinking that the model has', () => {
    for (const [model, effort, thinking_level] of [
      ['gemini-3.6-flash', 'minimal', 'minimal'],
      ['gemini-3.8-flash', 'minimal', 'low'],
      ['gemini-3.8-flash', 'max', 'high'],
    ] as const)
      expect(convert({ model, reasoning: { effort } }).body.generation_config, `${model} ${effort}`).to.deep.equal({
        thinking_level,
      });
  });

  it('sends images, documents, audio, files and videos of YouTube', () => {
    const content = [
      { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}`, detail: 'low' },
      { type: 'input_file', file_data: `data:application/pdf;base64,${PIXEL}` },
      { type: 'input_file', file_data: `data:audio/wav;base64,${PIXEL}` },
      { type: 'input_file', file_id: 'files/abc' },
      { type: 'input_file', file_url: 'https://www.youtube.com/watch?v=abc' },
    ] as const;
    const { body } = convert({ input: [{ type: 'message', role: 'user', content }] });
    const expected: readonly Interactions.Content[] = [
      { type: 'image', data: PIXEL, mime_type: 'image/png', resolution: 'low' },
      { type: 'document', data: PIXEL, mime_type: 'application/pdf' },
      { type: 'audio', data: PIXEL, mime_type: 'audio/wav' },
      { type: 'document', uri: 'https://generativelanguage.googleapis.com/v1beta/files/abc' },
      { type: 'video', uri: 'https://www.youtube.com/watch?v=abc' },
    ];
    expect((body.input as readonly JsonObject[])[0]?.content).to.deep.equal(expected);
  });

  it('pairs results with their calls by id, and marks failures', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{"at":"x"}' } as const;
    const output = { type: 'function_call_output', call_id: 'c1', output: 'gone', state: 'failed' } as const;
    const { body } = convert({ input: [call, output] });
    const expected: readonly Interactions.Step[] = [
      { type: 'function_call', id: 'c1', name: 'look', arguments: { at: 'x' } },
      { type: 'function_result', call_id: 'c1', name: 'look', is_error: true, result: 'gone' },
    ];
    expect(body.input).to.deep.equal(expected);
  });

  it('puts media of results after the results, for models that accept none inside', () => {
    const call = { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' } as const;
    const image = { type: 'input_image', image_url: `data:image/png;base64,${PIXEL}` } as const;
    const output = { type: 'function_call_output', call_id: 'c1', output: [image] } as const;
    const typesOf = (model: string) =>
      (convert({ model, input: [call, output] }).body.input as readonly JsonObject[]).map(({ type }) => type);
    expect(typesOf('gemini-2.5-flash')).to.deep.equal(['function_call', 'function_result', 'user_input']);
    expect(typesOf('gemini-3.5-flash')).to.deep.equal(['function_call', 'function_result']);
  });

  it('sends no thoughts and items of others, and names them', () => {
    const origin = { wire: 'gemini', vendor: 'google' } as const;
    const { body, losses } = convert({
      input: [
        { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }], origin },
        { type: 'vendor_item', origin, item: { executableCode: {} } },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] },
      ],
    });
    expect(body.input).to.have.length(1);
    expect(losses.map(({ path }) => path)).to.deep.equal(['input[0]', 'input[1]']);
  });

  it('sends agents without the settings of a model', () => {
    const { body, warnings } = convert({ model: 'deep-research-preview-04-2026', temperature: 1 });
    expect(body)
      .to.include({ agent: 'deep-research-preview-04-2026' })
      .and.not.to.have.any.keys('model', 'generation_config');
    expect(warnings.join()).to.include('temperature');
  });

  it('takes fields of this wire, and warns of those of the other', () => {
    expect(convert({ vendor: { google_interactions: { service_tier: 'flex' } } }).body.service_tier).to.equal('flex');
    expect(convert({ vendor: { google: { safetySettings: [] } } }).warnings.join()).to.include('google_interactions');
  });

  it('refuses server tools that Gemini lacks, and what old models cannot combine', () => {
    expect(() => convert({ tools: [{ type: 'image_generation' }] })).to.throw(UnsupportedFeatureError);
    const tools = [{ type: 'function', name: 'look' }, { type: 'web_search' }] as const;
    expect(() => convert({ model: 'gemini-2.5-flash', tools })).to.throw(UnsupportedFeatureError);
  });
});

describe('a response of the Interactions API', () => {
  it('goes back as it came', () => {
    const { output } = read({ status: 'requires_action', steps: [...STEPS] });
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'sunny' } as const;
    const { body, losses } = convert({ input: [...output, result] });
    expect((body.input as readonly JsonObject[]).slice(0, -1)).to.deep.equal(STEPS);
    expect(losses).to.deep.equal([]);
  });

  it('has text, thoughts, calls and annotations', () => {
    const response = read({ status: 'requires_action', steps: [...STEPS], model: 'gemini-3.5-flash' });
    expect(response).to.include({ status: 'completed', output_text: 'Grüße: sunny.', id: 'v1_a' });
    expect(response.output.map(({ type }) => type)).to.deep.equal([
      'reasoning',
      'vendor_item',
      'vendor_item',
      'message',
      'function_call',
    ]);
    const [message] = response.output.filter((item) => item.type === 'message');
    const [part] = message?.content ?? [];
    // Offsets are bytes on the wire: "ü" and "ß" have two each.
    expect(part?.type === 'output_text' ? part.annotations : []).to.deep.equal([
      { type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 7, end_index: 13 },
    ]);
  });

  it('keeps images of the model as items', () => {
    const content: Interactions.Content[] = [
      { type: 'text', text: 'Here: ' },
      { type: 'image', data: PIXEL, mime_type: 'image/png' },
    ];
    const { output } = read({ steps: [{ type: 'model_output', content }] });
    expect(output.map(({ type }) => type)).to.deep.equal(['message', 'vendor_item']);
  });

  it('counts thoughts as output, and tool use as input', () => {
    const { usage } = read({
      usage: {
        total_input_tokens: 10,
        total_cached_tokens: 4,
        total_tool_use_tokens: 5,
        total_output_tokens: 7,
        total_thought_tokens: 3,
        total_tokens: 25,
      },
    });
    expect(usage).to.deep.equal({
      input_tokens: 15,
      output_tokens: 10,
      total_tokens: 25,
      input_tokens_details: { cached_tokens: 4, cache_write_tokens: 0 },
      output_tokens_details: { reasoning_tokens: 3 },
    });
  });

  for (const [status, expected, reason] of [
    ['completed', 'completed', undefined],
    ['requires_action', 'completed', undefined],
    ['incomplete', 'incomplete', 'max_output_tokens'],
    ['requires_continuation', 'incomplete', 'max_output_tokens'],
    ['budget_exceeded', 'incomplete', 'budget_exceeded'],
    ['cancelled', 'cancelled', undefined],
    ['something_new', 'completed', undefined],
  ] as const)
    it(`with the status ${status} is ${expected}`, () => {
      const response = read({ status, steps: [] });
      expect(response.status).to.equal(expected);
      expect(response.incomplete_details?.reason).to.equal(reason);
      expect(response.vendor.finish_reason).to.equal(status);
    });

  it('that failed is an error with the code of the vendor', () => {
    const failed = { status: 'failed', errors: [{ code: 'safety', message: 'Blocked.' }] };
    expect(() => read(failed))
      .to.throw(LLMError)
      .that.includes({ code: 'content-filtered', vendorCode: 'safety' });
  });
});

describe('InteractionsDecoder', () => {
  const interaction = { id: 'v1_a', model: 'gemini-3.5-flash', status: 'in_progress' };
  const usage = { total_input_tokens: 3, total_output_tokens: 4, total_tokens: 7 };
  const delta = (index: number, data: Interactions.StepDelta['delta']): Interactions.InteractionSSEEvent => ({
    event_type: 'step.delta',
    index,
    delta: data,
  });
  const start = (index: number, step: Interactions.Step): Interactions.InteractionSSEEvent => ({
    event_type: 'step.start',
    index,
    step,
  });
  const stop = (index: number): Interactions.InteractionSSEEvent => ({ event_type: 'step.stop', index });
  const EVENTS: readonly Interactions.InteractionSSEEvent[] = [
    { event_type: 'interaction.created', interaction },
    { event_type: 'interaction.status_update', interaction_id: 'v1_a', status: 'in_progress' },
    start(0, { type: 'thought' }),
    delta(0, { type: 'thought_summary', content: { type: 'text', text: 'Weather ' } }),
    delta(0, { type: 'thought_summary', content: { type: 'text', text: 'is asked for.' } }),
    delta(0, { type: 'thought_signature', signature: 'sig-1' }),
    stop(0),
    start(1, { type: 'google_search_call', id: 's1', arguments: {} }),
    delta(1, { type: 'google_search_call', arguments: { queries: ['weather'] }, signature: 'sig-2' }),
    stop(1),
    start(2, { type: 'google_search_result', call_id: 's1', result: [] }),
    delta(2, { type: 'google_search_result', result: [{ search_suggestions: '<b>weather</b>' }] }),
    stop(2),
    start(3, { type: 'model_output' }),
    delta(3, { type: 'text', text: 'Grüße: ' }),
    delta(3, { type: 'text', text: 'sunny.' }),
    delta(3, {
      type: 'text_annotation_delta',
      annotations: [{ type: 'url_citation', url: 'https://a.example', title: 'A', start_index: 9, end_index: 15 }],
    }),
    stop(3),
    start(4, { type: 'function_call', id: 'call_1', name: 'get_weather', arguments: {} }),
    delta(4, { type: 'arguments_delta', arguments: '{"city":' }),
    delta(4, { type: 'arguments_delta', arguments: '"Köln"}' }),
    stop(4),
    { event_type: 'interaction.completed', interaction: { ...interaction, status: 'requires_action', usage } },
  ];

  it('assembles the response that would have come without streaming', () => {
    const streamed = completedIn(decode(EVENTS));
    expect(streamed).to.deep.equal(read({ ...interaction, status: 'requires_action', usage, steps: [...STEPS] }));
  });

  it('emits each piece under the index of its item', () => {
    const events = decode(EVENTS);
    const response = completedIn(events);
    for (const [index, item] of response.output.entries())
      expect(
        events.find((event) => event.type === 'response.output_item.done' && event.output_index === index),
      ).to.deep.include({ item });
    expect(events.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.output_item.added',
      'response.reasoning.delta',
      'response.reasoning.delta',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.output_text.delta',
      'response.output_text.delta',
      'response.annotation.added',
      'response.output_item.done',
      'response.output_item.added',
      'response.tool_use.announced',
      'response.tool_use.done',
      'response.output_item.done',
      'response.usage',
      'response.completed',
    ]);
  });

  it('reads media between texts', () => {
    const image = { type: 'image', data: PIXEL, mime_type: 'image/png' } as const;
    const events = decode([
      { event_type: 'interaction.created', interaction },
      start(0, { type: 'model_output' }),
      delta(0, { type: 'text', text: 'Before' }),
      delta(0, image),
      delta(0, { type: 'text', text: 'After' }),
      stop(0),
      { event_type: 'interaction.completed', interaction: { ...interaction, status: 'completed', usage } },
    ]);
    const { output } = completedIn(events);
    expect(output.map(({ type }) => type)).to.deep.equal(['message', 'vendor_item', 'message']);
    const done = events.filter((event) => event.type === 'response.output_item.done');
    expect(done.map(({ output_index: index }) => index)).to.deep.equal([0, 1, 2]);
    expect(done.map(({ item }) => item)).to.deep.equal(output);
  });

  it('throws errors in the stream, and for an end without interaction.completed', () => {
    const error = { code: 'rate_limit_exceeded', message: 'Slow down.' };
    expect(() => decode([{ event_type: 'error', error }]))
      .to.throw(LLMError, 'Slow down.')
      .that.includes({ code: 'rate-limited' });
    expect(() => decode(EVENTS.slice(0, -1)))
      .to.throw(LLMError)
      .that.includes({ code: 'stream-broken' });
  });
});
