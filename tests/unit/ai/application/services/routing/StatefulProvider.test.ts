import { expect } from 'chai';
import { MemoryResponseStore } from '../../../../../../imports/business/ai/application/services/chains/MemoryResponseStore';
import { StatefulProvider } from '../../../../../../imports/business/ai/application/services/routing/StatefulProvider';
import {
  LLMInvalidRequestError,
  LLMServerError,
  UnsupportedFeatureError,
} from '../../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { GenerateOptions } from '../../../../../../imports/business/ai/domain/types/LLMTypes';
import type { Item, LLMResponse } from '../../../../../../imports/business/ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../../../../imports/business/ai/domain/types/StreamEvents';
import { failure } from '../../../../../support/failure';
import { answer, callItem, eventsOf, response, textItem } from '../../../../../../imports/testing/responses';
import { ScriptedProvider } from '../../../../../../imports/testing/ScriptedProvider';
import type { ScriptedStep } from '../../../../../../imports/testing/ScriptedProvider';

function setUp(script: readonly ScriptedStep[], { keepsState = false, trustsIds = false } = {}) {
  const upstream = new ScriptedProvider(script, { capabilities: { keepsState } });
  const store = new MemoryResponseStore();
  const provider = new StatefulProvider({ provider: upstream, store, trustsIds });
  const ask = (
    input: GenerateOptions['input'],
    previous?: LLMResponse | string,
    more: Partial<GenerateOptions> = {},
  ): Promise<LLMResponse> =>
    provider.generate('ann', {
      model: 'm',
      input,
      store: true,
      ...more,
      ...(previous === undefined
        ? {}
        : { previous_response_id: typeof previous === 'string' ? previous : previous.id }),
    });
  const sent = (index: number): GenerateOptions => upstream.calls[index]!.options;
  return { upstream, store, provider, ask, sent };
}

const linesOf = (options: GenerateOptions): readonly string[] =>
  (options.input as readonly Item[]).map((item) =>
    item.type === 'message'
      ? `${item.role}: ${item.content.map((part) => ('text' in part ? part.text : '')).join('')}`
      : item.type,
  );

async function last(events: AsyncIterable<ResponseStreamEvent>): Promise<LLMResponse> {
  for await (const event of events) if (event.type === 'response.completed') return event.response;
  throw new Error('the stream never completes');
}

describe('StatefulProvider over a vendor that stores no responses', () => {
  it('sends the entire conversation without the options for stored responses', async () => {
    const { ask, sent } = setUp([answer('A', { id: 'r1' }), answer('B', { id: 'r2' }), answer('C', { id: 'r3' })]);
    const first = await ask('a');
    const second = await ask('b', first);
    const third = await ask([{ role: 'user', content: 'c' }], second, { instructions: 'Be brief.' });
    expect(linesOf(sent(2))).to.deep.equal(['user: a', 'assistant: A', 'user: b', 'assistant: B', 'user: c']);
    expect(sent(2)).to.have.all.keys('model', 'input', 'instructions');
    expect([first, second, third].map(({ previous_response_id }) => previous_response_id)).to.deep.equal([
      undefined,
      'r1',
      'r2',
    ]);
  });

  it('stores nothing unless storage is requested', async () => {
    const { provider, store } = setUp([answer('A', { id: 'r1' }), answer('B', { id: 'r2' })]);
    await provider.generate('ann', { model: 'm', input: 'a' });
    await provider.generate('ann', { model: 'm', input: 'b', store: false });
    expect([await store.find('ann', 'r1'), await store.find('ann', 'r2')]).to.deep.equal([undefined, undefined]);
  });

  it('continues from a response without storing the next one, if requested', async () => {
    const { ask, store, sent } = setUp([answer('A', { id: 'r1' }), answer('B', { id: 'r2' })]);
    await ask('a');
    await ask('b', 'r1', { store: false });
    expect(linesOf(sent(1))).to.deep.equal(['user: a', 'assistant: A', 'user: b']);
    expect(await store.find('ann', 'r2')).to.equal(undefined);
  });

  it('continues two conversations from the same response', async () => {
    const { ask, sent } = setUp(['r1', 'r2', 'r3', 'r4'].map((id) => answer(id.toUpperCase(), { id })));
    await ask('a');
    await ask('b', 'r1');
    await ask('c', 'r1');
    await ask('d', 'r3');
    expect(linesOf(sent(3))).to.deep.equal(['user: a', 'assistant: R1', 'user: c', 'assistant: R3', 'user: d']);
  });

  it('rejects an unknown response before anything is sent', async () => {
    const { ask, upstream } = setUp([]);
    const error = await failure(ask('a', 'r9'));
    expect(error).to.be.instanceOf(LLMInvalidRequestError).with.property('path', 'previous_response_id');
    upstream.assertPlayedOut();
  });

  it('stores an incomplete response, as vendors do', async () => {
    const { ask, sent } = setUp([answer('Half of', { id: 'r1', status: 'incomplete' }), answer('B', { id: 'r2' })]);
    await ask('a');
    await ask('Go on.', 'r1');
    expect(linesOf(sent(1))).to.deep.equal(['user: a', 'assistant: Half of', 'user: Go on.']);
  });

  for (const id of ['', 'chatcmpl-1']) {
    it(`generates unique ids if the vendor gives every response the id '${id}'`, async () => {
      const { ask, sent, provider } = setUp([answer('A', { id }), answer('B', { id }), answer('C', { id })]);
      const first = await ask('a');
      const second = await ask('b', first);
      const streamed = await last(
        provider.stream('ann', { model: 'm', input: 'c', store: true, previous_response_id: second.id }),
      );
      expect(new Set([first.id, second.id, streamed.id]).size).to.equal(3);
      expect(linesOf(sent(2))).to.deep.equal(['user: a', 'assistant: A', 'user: b', 'assistant: B', 'user: c']);
    });
  }

  it('uses one id in all events of a stream', async () => {
    const { provider } = setUp([answer('A', { id: '' })]);
    const events: ResponseStreamEvent[] = [];
    for await (const event of provider.stream('ann', { model: 'm', input: 'a', store: true })) events.push(event);
    const ids = events.flatMap((event) =>
      event.type === 'response.created' ? [event.id] : event.type === 'response.completed' ? [event.response.id] : [],
    );
    expect(ids).to.have.length(2);
    expect(ids[0])
      .to.equal(ids[1])
      .and.to.match(/^resp_/);
    expect(events.map(({ type }) => type)).to.deep.equal(eventsOf(answer('A')).map(({ type }) => type));
  });

  it('stores nothing of a broken stream', async () => {
    const { provider, store } = setUp([
      [...eventsOf(answer('A b c', { id: 'r1' })).slice(0, 3), new LLMServerError('broken')],
    ]);
    expect(await failure(last(provider.stream('ann', { model: 'm', input: 'a', store: true })))).to.have.property(
      'message',
      'broken',
    );
    expect(await store.find('ann', 'r1')).to.equal(undefined);
  });

  it('throws if a response could not be stored, with the response in the error', async () => {
    const { ask, store } = setUp([answer('A', { id: 'r1' })]);
    store.save = () => Promise.reject(new Error('disk full'));
    const error = await failure(ask('a'));
    expect(error).to.be.instanceOf(LLMServerError).and.to.have.nested.property('response.output_text', 'A');
    expect(error).to.have.property('retryable', false);
  });

  it('deletes a response, after which only its successors can be continued', async () => {
    const { ask, provider, sent } = setUp([
      answer('A', { id: 'r1' }),
      answer('B', { id: 'r2' }),
      answer('C', { id: 'r3' }),
    ]);
    await ask('a');
    await ask('b', 'r1');
    await provider.deleteResponse('ann', 'r1');
    await provider.deleteResponse('ann', 'r1');
    expect(await failure(ask('x', 'r1'))).to.be.instanceOf(LLMInvalidRequestError);
    await ask('c', 'r2');
    expect(linesOf(sent(2))).to.deep.equal(['user: b', 'assistant: B', 'user: c']);
  });

  it('deletes from the store if the vendor stores nothing, and throws any other failure', async () => {
    const { ask, provider, upstream, store } = setUp([answer('A', { id: 'r1' }), answer('B', { id: 'r2' })]);
    await ask('a');
    await ask('b');
    upstream.deleteResponse = () => Promise.reject(new UnsupportedFeatureError('it keeps no responses'));
    await provider.deleteResponse('ann', 'r1');
    expect(await store.find('ann', 'r1')).to.equal(undefined);
    upstream.deleteResponse = () => Promise.reject(new LLMServerError('down'));
    expect(await failure(provider.deleteResponse('ann', 'r2'))).to.have.property('message', 'down');
  });

  it('puts a call back before its outputs, once and in place, if its response is gone', async () => {
    const calls = [callItem({ name: 'a', call_id: 'c1' }), callItem({ name: 'b', call_id: 'c2' })];
    const { ask, provider, sent } = setUp([
      response({ id: 'r1', output: calls }),
      answer('B', { id: 'r2' }),
      answer('C', { id: 'r3' }),
      answer('D', { id: 'r4' }),
    ]);
    await ask('q');
    await ask(
      [
        { role: 'user', content: 'Here:' },
        ...['c1', 'c2'].map((call_id) => ({ type: 'function_call_output' as const, call_id, output: call_id })),
      ],
      'r1',
    );
    await ask('more', 'r2');
    expect((sent(2).input as readonly Item[]).map(({ type }) => type)).to.deep.equal([
      'message',
      'function_call',
      'function_call',
      'message',
      'function_call_output',
      'function_call_output',
      'message',
      'message',
    ]);
    await provider.deleteResponse('ann', 'r1');
    await ask('more', 'r2');
    expect((sent(3).input as readonly Item[]).map(({ type }) => type)).to.deep.equal([
      'message',
      'function_call',
      'function_call',
      'function_call_output',
      'function_call_output',
      'message',
      'message',
    ]);
  });

  it('drops encrypted reasoning with a loss if the beginning is gone', async () => {
    const thought: Item = {
      type: 'reasoning',
      summary: [],
      encrypted_content: 'sealed',
      origin: { wire: 'anthropic_messages' },
    };
    const { ask, provider, sent } = setUp([
      answer('A', { id: 'r1' }),
      response({ id: 'r2', output: [thought, textItem('B')] }),
      answer('C', { id: 'r3' }),
    ]);
    await ask('a');
    await ask('b', 'r1');
    await provider.deleteResponse('ann', 'r1');
    const third = await ask('c', 'r2');
    expect((sent(2).input as readonly Item[]).map(({ type }) => type)).to.deep.equal(['message', 'message', 'message']);
    expect(third.vendor.losses).to.deep.equal([
      {
        path: 'previous_response_id.items[1]',
        what: 'encrypted reasoning',
        reason: 'The beginning of the conversation that it was encrypted for is gone.',
      },
    ]);
  });
});

describe('StatefulProvider over a vendor that stores responses', () => {
  it('sends the previous id and the new items', async () => {
    const { ask, sent } = setUp([answer('A', { id: 'r1' }), answer('B', { id: 'r2' })], { keepsState: true });
    await ask('a');
    await ask('b', 'r1');
    expect(linesOf(sent(1))).to.deep.equal(['user: b']);
    expect(sent(1)).to.deep.include({ previous_response_id: 'r1', store: true });
  });

  it('sends the entire conversation if the vendor keeps calls that were left out', async () => {
    const calling = response({ id: 'r1', output: [callItem({ name: 'look', call_id: 'c1' })] });
    const { ask, sent } = setUp(
      [{ ...calling, vendor: { ...calling.vendor, omitted_calls: 1 } }, answer('B', { id: 'r2' })],
      { keepsState: true },
    );
    await ask('a');
    await ask([{ type: 'function_call_output', call_id: 'c1', output: 'x' }], 'r1');
    expect(linesOf(sent(1))).to.deep.equal(['user: a', 'function_call', 'function_call_output']);
    expect(sent(1)).not.to.have.property('previous_response_id');
  });

  it('forwards unknown ids only if ids are trusted', async () => {
    const wary = setUp([], { keepsState: true });
    expect(await failure(wary.ask('a', 'somebody-elses'))).to.be.instanceOf(LLMInvalidRequestError);
    await wary.provider.deleteResponse('ann', 'somebody-elses');
    expect(wary.upstream.deleted).to.deep.equal([]);
    const trusting = setUp([answer('A')], { keepsState: true, trustsIds: true });
    await trusting.ask('a', 'from-before-the-restart');
    expect(trusting.sent(0).previous_response_id).to.equal('from-before-the-restart');
    await trusting.provider.deleteResponse('ann', 'from-before-the-restart');
    expect(trusting.upstream.deleted).to.have.length(1);
  });

  it('continues from another vendor’s response by replaying it', async () => {
    const { ask, sent, store } = setUp([answer('B', { id: 'r2' }), answer('C', { id: 'r3' })], { keepsState: true });
    await store.save({
      id: 'r1',
      userId: 'ann',
      providerId: 'other',
      keptByProvider: false,
      input: [],
      response: answer('A', { id: 'r1' }),
    });
    await ask('b', 'r1');
    expect(linesOf(sent(0))).to.deep.equal(['assistant: A', 'user: b']);
    expect(sent(0)).not.to.have.property('previous_response_id');
    await ask('c', 'r2');
    expect(sent(1)).to.have.property('previous_response_id', 'r2');
  });
});

describe('MemoryResponseStore', () => {
  const stored = (id: string, userId = 'ann') => ({
    id,
    userId,
    providerId: 'p',
    keptByProvider: false,
    input: [],
    response: response({ id, output: [{ ...textItem(id), id: `item-${id}` }] }),
  });

  it('evicts the least recently used response beyond its limit', async () => {
    const store = new MemoryResponseStore({ maxResponses: 2 });
    await store.save(stored('r1'));
    await store.save(stored('r2'));
    await store.find('ann', 'r1');
    await store.save(stored('r3'));
    expect(
      await Promise.all(['r1', 'r2', 'r3'].map(async (id) => (await store.find('ann', id)) !== undefined)),
    ).to.deep.equal([true, false, true]);
  });

  it('evicts responses that were not used within the time to live', async () => {
    let now = 0;
    const store = new MemoryResponseStore({ timeToLive: 1_000, now: () => now });
    await store.save(stored('r1'));
    await store.save(stored('r2'));
    now = 900;
    expect(await store.find('ann', 'r1')).not.to.equal(undefined);
    now = 1_100;
    expect(await store.find('ann', 'r1')).not.to.equal(undefined);
    expect(await store.find('ann', 'r2')).to.equal(undefined);
    expect(await store.remove('ann', 'r2')).to.equal(false);
  });

  it('finds items, but not those of another user', async () => {
    const store = new MemoryResponseStore();
    await store.save(stored('r1'));
    expect((await store.findItem('ann', 'item-r1'))?.stored.id).to.equal('r1');
    expect(await store.findItem('eve', 'item-r1')).to.equal(undefined);
    expect(await store.find('eve', 'r1')).to.equal(undefined);
    expect(await store.remove('eve', 'r1')).to.equal(false);
    expect(await store.remove('ann', 'r1')).to.equal(true);
    expect(await store.findItem('ann', 'item-r1')).to.equal(undefined);
  });
});
