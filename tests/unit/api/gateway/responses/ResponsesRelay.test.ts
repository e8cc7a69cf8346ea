import { expect } from 'chai';
import { emptyResource } from '../../../../../imports/api/gateway/responses/responseResource';
import { ResponsesRelay } from '../../../../../imports/api/gateway/responses/ResponsesRelay';
import { LLMError, LLMServerError, LLMStreamError } from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { ResponseStreamEvent } from '../../../../../imports/business/ai/domain/types/StreamEvents';
import type { JsonObject } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { createStreamEncoder } from '../../../../../imports/business/ai/infrastructure/streaming/createStreamEncoder';
import { decodeStream } from '../../../../../imports/business/ai/infrastructure/streaming/decodeStream';
import { ResponsesDecoder } from '../../../../../imports/business/ai/infrastructure/converters/responses/stream/ResponsesDecoder';
import { CREATED_EVENT, completed, textDelta } from '../../../../support/encoding';
import { checkEvents, eventsOfStream } from '../../../../support/openResponses';

const OURS = { id: 'resp_ours', created: 1, model: 'm' };

function relayOf({
  rawReasoningName = 'reasoning',
  checkItem = () => undefined,
}: Partial<ConstructorParameters<typeof ResponsesRelay>[0]> = {}): ResponsesRelay {
  const initial = emptyResource({}, { id: OURS.id, created_at: 1, model: 'm', status: 'in_progress' });
  return new ResponsesRelay({
    encoder: createStreamEncoder('openai_responses', OURS),
    rawReasoningName,
    echo: {},
    initial,
    overrides: {},
    checkItem,
  });
}

/** Relays a provider's events and returns what the client receives. A string is sent as is. */
async function relayed(
  events: readonly (JsonObject | string)[],
  options: Parameters<typeof relayOf>[0] = {},
): Promise<string> {
  const frames = events.map((event) =>
    typeof event === 'string' ? event : `event: ${String(event.type)}\ndata: ${JSON.stringify(event)}\n\n`,
  );
  const context = {
    model: 'm',
    vendor: 'openai',
    warnings: [],
    losses: [],
    receivedAt: 1,
    quirks: {},
    capabilities: {},
  } as unknown as ConstructorParameters<typeof ResponsesDecoder>[0];
  const limits = {
    streamIdleTimeout: 60_000,
    maxEventBytes: 100_000,
    abort: () => undefined,
    relay: 'responses',
  } as const;
  const relay = relayOf(options);
  const relayedFrames: string[] = [];
  try {
    for await (const event of decodeStream(bytesOf(frames.join('')), new ResponsesDecoder(context), limits))
      relayedFrames.push(...relay.push(event));
    relayedFrames.push(...relay.end());
  } catch (error) {
    if (!(error instanceof LLMError)) throw error;
    relayedFrames.push(...relay.fail(error));
  }
  return relayedFrames.join('');
}

async function* bytesOf(text: string): AsyncGenerator<Uint8Array> {
  yield await Promise.resolve(Buffer.from(text));
}

/** Parses a stream and expects it to be valid Open Responses. */
function validEvents(text: string): readonly JsonObject[] {
  const events = eventsOfStream(text);
  checkEvents(events);
  return events;
}

const at = (output_index: number, id: string): JsonObject => ({ output_index, item_id: id, content_index: 0 });
const part = (text: string): JsonObject => ({ type: 'output_text', text, annotations: [], logprobs: [] });
const message = (id: string, text: string): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'completed',
  content: [part(text)],
});
const open = (id: string): JsonObject => ({
  id,
  type: 'message',
  role: 'assistant',
  status: 'in_progress',
  content: [],
});
const call = (id: string): JsonObject => ({
  id,
  type: 'function_call',
  call_id: `c_${id}`,
  name: 'search',
  arguments: '{}',
  status: 'completed',
});

function response(output: readonly JsonObject[], status = 'completed'): JsonObject {
  return { id: 'resp_theirs', object: 'response', created_at: 5, status, model: 'm', output, usage: null };
}
const CREATED: JsonObject = { type: 'response.created', response: response([], 'in_progress') };
const PROGRESS: JsonObject = { type: 'response.in_progress', response: response([], 'in_progress') };
const ended = (...output: readonly JsonObject[]): JsonObject => ({
  type: 'response.completed',
  response: response(output),
});

function textEvents(index: number, id: string, text: string): readonly JsonObject[] {
  return [
    { type: 'response.output_item.added', output_index: index, item: open(id) },
    { type: 'response.content_part.added', ...at(index, id), part: part('') },
    { type: 'response.output_text.delta', ...at(index, id), delta: text },
    { type: 'response.output_text.done', ...at(index, id), text },
    { type: 'response.content_part.done', ...at(index, id), part: part(text) },
    { type: 'response.output_item.done', output_index: index, item: message(id, text) },
  ];
}

describe('ResponsesRelay', () => {
  it('forwards a correctly numbered stream byte for byte', async () => {
    const delta =
      '{ "type":"response.output_text.delta","item_id":"a","output_index":0,"content_index":0,"delta":"x","logprobs":[{"token":"x","logprob":-0.10,"top_logprobs":[]}],"sequence_number":4,"new":12345678901234567890}';
    const numbered = [CREATED, PROGRESS, ...textEvents(0, 'a', 'x').slice(0, 2)].map(
      (event, sequence_number): JsonObject => ({ ...event, sequence_number }),
    );
    const text = await relayed([
      ...numbered,
      `event: response.output_text.delta\ndata: ${delta}\n\n`,
      ...textEvents(0, 'a', 'x').slice(3),
      ended(message('a', 'x')),
    ]);
    expect(text).to.include(`event: response.output_text.delta\ndata: ${delta}\n\n`);
    expect(eventsOfStream(text).map(({ sequence_number }) => sequence_number)).to.deep.equal([
      0, 1, 2, 3, 4, 5, 6, 7, 8,
    ]);
  });

  it('numbers events without gaps, and fills in what Open Responses requires and the provider omits', async () => {
    const events = textEvents(0, 'a', 'x').map((event, index): JsonObject => ({
      ...event,
      sequence_number: index * 7 + 100,
    }));
    const bare = events.map((event) =>
      'part' in event
        ? { ...event, part: { type: 'output_text', text: (event.part as { text: string }).text } }
        : event,
    );
    const all = validEvents(await relayed([CREATED, PROGRESS, ...bare, ended(message('a', 'x'))]));
    expect(all.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.in_progress',
      ...events.map(({ type }) => type),
      'response.completed',
    ]);
    expect((all[0]!.response as JsonObject).id).to.equal('resp_theirs');
  });

  it('starts with the response if the provider starts with an item', async () => {
    const all = validEvents(await relayed([...textEvents(0, 'a', 'x'), ended(message('a', 'x'))]));
    expect(all.slice(0, 3).map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.in_progress',
      'response.output_item.added',
    ]);
  });

  it('emits interleaved items one after another without losing any', async () => {
    const [first, second] = [textEvents(0, 'a', 'one'), textEvents(1, 'b', 'two')];
    const mixed = first.flatMap((event, index) => [event, second[index]!]);
    const late = { type: 'response.brand_new', output_index: 0, deep: [1] };
    const all = validEvents(
      await relayed([CREATED, PROGRESS, ...mixed, ended(message('a', 'one'), message('b', 'two'))]),
    );
    expect(all.slice(2, -1).map(({ output_index }) => output_index)).to.deep.equal([
      ...first.map(() => 0),
      ...second.map(() => 1),
    ]);
    expect(
      await relayed([CREATED, PROGRESS, ...mixed, late, ended(message('a', 'one'), message('b', 'two'))]),
    ).to.include('"deep":[1]');
  });

  it('closes items left open, and emits items that only the completed response contains', async () => {
    const left = textEvents(0, 'a', 'one').slice(0, 5);
    const all = validEvents(
      await relayed([CREATED, PROGRESS, ...left, ended(message('a', 'one'), message('b', ''), call('f'))]),
    );
    expect(
      all.filter(({ type }) => type === 'response.output_item.done').map(({ item }) => (item as JsonObject).id),
    ).to.deep.equal(['a', 'b', 'f']);
    const added = all.filter(({ type }) => type === 'response.output_item.added').at(-1)?.item;
    expect(added).to.include({ id: 'f', arguments: '', status: 'in_progress' });
  });

  it('names raw reasoning events as the client expects', async () => {
    const item = { id: 'r', type: 'reasoning', summary: [] };
    const raw = [
      { type: 'response.output_item.added', output_index: 0, item },
      { type: 'response.reasoning_text.delta', ...at(0, 'r'), delta: 'hm' },
      { type: 'response.reasoning_text.done', ...at(0, 'r'), text: 'hm' },
      {
        type: 'response.output_item.done',
        output_index: 0,
        item: { ...item, content: [{ type: 'reasoning_text', text: 'hm' }] },
      },
      ended({ ...item, content: [{ type: 'reasoning_text', text: 'hm' }] }),
    ];
    for (const name of ['reasoning', 'reasoning_text'] as const) {
      const text = await relayed([CREATED, PROGRESS, ...raw], { rawReasoningName: name });
      expect(text).to.include(`event: response.${name}.delta\n`).and.to.include(`"type":"response.${name}.done"`);
    }
  });

  it('ends with an error that contains everything the provider reported, flat and nested', async () => {
    const error = {
      type: 'error',
      code: 'rate_limit_exceeded',
      message: 'Too fast.',
      param: null,
      brand_new: 1,
      sequence_number: 99,
    };
    const events = eventsOfStream(await relayed([CREATED, PROGRESS, ...textEvents(0, 'a', 'x'), error]));
    expect(events.slice(-2).map(({ type }) => type)).to.deep.equal(['error', 'response.failed']);
    expect(events.at(-2)).to.deep.include({
      code: 'rate_limit_exceeded',
      message: 'Too fast.',
      brand_new: 1,
      sequence_number: events.length - 2,
    });
    expect(events.at(-2)!.error).to.include({
      type: 'too_many_requests',
      code: 'rate_limit_exceeded',
      message: 'Too fast.',
    });
    expect((events.at(-1)!.response as JsonObject).output).to.deep.equal([message('a', 'x')]);
    checkEvents(events);
  });

  it('does not report success for a stream that stops early', async () => {
    for (const cut of [2, 4, 8]) {
      const events = eventsOfStream(await relayed([CREATED, PROGRESS, ...textEvents(0, 'a', 'x')].slice(0, cut)));
      expect(events.at(-1)!.type).to.equal('response.failed');
      expect(events.at(-1)!.response).to.include({ id: 'resp_theirs', status: 'failed' });
    }
  });

  it('never emits an item that the request did not allow', async () => {
    const item = call('f');
    const refuse = (): never => {
      throw new LLMServerError('Not allowed.', { retryable: false });
    };
    const text = await relayed(
      [
        CREATED,
        PROGRESS,
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_item.done', output_index: 0, item },
        ended(item),
      ],
      { checkItem: refuse },
    );
    expect(text).not.to.include('search');
    expect(eventsOfStream(text).at(-1)!.type).to.equal('response.failed');
  });

  it('encodes the stream of a fallback over another wire', () => {
    const events: readonly ResponseStreamEvent[] = [
      { type: 'wire.message', wire: 'gemini', data: '{"theirs":1}' },
      CREATED_EVENT,
      textDelta('x'),
      completed('gemini', { output: [] }),
    ];
    const [relay, plain] = [relayOf(), createStreamEncoder('openai_responses', OURS)];
    const frames = events.map((event) => plain.push(event));
    expect(frames.flat().join(''))
      .to.include('event: response.output_text.delta')
      .and.to.include('event: response.completed');
    expect(events.map((event) => relay.push(event))).to.deep.equal(frames);
    expect(relay.end()).to.deep.equal(plain.end());
    const [broken, other] = [relayOf(), createStreamEncoder('openai_responses', OURS)];
    expect(broken.fail(new LLMStreamError('It broke.'))).to.deep.equal(other.fail(new LLMStreamError('It broke.')));
  });
});
