/** Conversations of the Responses API, by OpenAI's SDK and by hand, with every vendor. */
import { expect } from 'chai';
import OpenAI from 'openai';
import type { ResponseConversationStore } from '../../imports/business/ai/domain/interfaces/ResponseConversationStore';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { openResponseConversations } from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseConversations';
import { MemoryResponseConversations } from '../../imports/business/ai/infrastructure/persistence/responses/MemoryResponseConversations';
import { DATABASES } from '../support/documentDatabases';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';
import { expectValid } from '../support/openResponses';
import { openSocket } from '../support/responsesSocket';
import { allInSoak } from '../support/soak';

type Item = OpenAI.Conversations.ConversationItem;

const BOB = { headers: { authorization: `Bearer ${TOKENS.bob}` } };
const WEATHER = {
  type: 'function' as const,
  name: 'get_weather',
  parameters: { type: 'object', properties: {} },
  strict: false,
};
const user = (content: string): { readonly role: 'user'; readonly content: string } => ({ role: 'user', content });

/** The texts of messages, and the types of other items. */
function outlineOf(items: readonly Item[]): readonly string[] {
  return items.map((item) => {
    if (item.type !== 'message') return item.type;
    return item.content.map((part) => ('text' in part ? part.text : part.type)).join('');
  });
}

describe('Conversations', () => {
  let gateway: Gateway;
  let client: OpenAI;
  beforeEach(async () => {
    gateway = await startGateway({ api: { conversations: new MemoryResponseConversations() } });
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TOKENS.ann, maxRetries: 0 });
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  async function itemsOf(id: string): Promise<readonly Item[]> {
    const items: Item[] = [];
    for await (const item of client.conversations.items.list(id, { order: 'asc' })) items.push(item);
    return items;
  }
  const outline = async (id: string): Promise<readonly string[]> => outlineOf(await itemsOf(id));
  const lastSeen = (): string => JSON.stringify(gateway.simulator.requests.at(-1)!.body);

  async function refused(path: string, body?: unknown, init = {}): Promise<readonly [number, JsonObject]> {
    const response = await gateway.request(path, body, init);
    const received = (await response.json()) as { readonly error: JsonObject };
    expectValid('error-response', received);
    return [response.status, received.error];
  }

  it('are created, read, changed and deleted', async () => {
    const created = await client.conversations.create({ metadata: { topic: 'demo' }, items: [user('Hello')] });
    expect(created).to.deep.include({ object: 'conversation', metadata: { topic: 'demo' } });
    expect(created.id).to.match(/^conv_/);
    expect(created.created_at).to.be.closeTo(Date.now() / 1_000, 5);
    expect(await client.conversations.retrieve(created.id)).to.deep.equal(created);
    const changed = await client.conversations.update(created.id, { metadata: { topic: 'other', more: 'x' } });
    expect(changed).to.deep.equal({ ...created, metadata: { topic: 'other', more: 'x' } });
    expect(await client.conversations.retrieve(created.id)).to.deep.equal(changed);
    expect(await client.conversations.delete(created.id)).to.deep.equal({
      id: created.id,
      object: 'conversation.deleted',
      deleted: true,
    });
    for (const path of ['', '/items', '/items/msg_1'])
      expect((await refused(`/v1/conversations/${created.id}${path}`))[0]).to.equal(404);
    expect(await client.conversations.create()).to.deep.include({ metadata: {} });
  });

  it('have items that are added, listed page by page, read and deleted', async () => {
    const { id } = await client.conversations.create();
    const texts = Array.from({ length: 45 }, (_value, index) => `Message ${index}`);
    for (let first = 0; first < texts.length; first += 20) {
      const added = await client.conversations.items.create(id, { items: texts.slice(first, first + 20).map(user) });
      expect(outlineOf(added.data)).to.deep.equal(texts.slice(first, first + 20));
      expect([added.first_id, added.last_id, added.has_more]).to.deep.equal([
        added.data[0]!.id,
        added.data.at(-1)!.id,
        false,
      ]);
    }
    expect(await outline(id)).to.deep.equal(texts);
    const newest = await client.conversations.items.list(id, { limit: 2 });
    expect(outlineOf(newest.data)).to.deep.equal(['Message 44', 'Message 43']);
    expect(newest.has_more).to.equal(true);
    const before = await client.conversations.items.list(id, { limit: 100, after: newest.last_id });
    expect(outlineOf(before.data)).to.deep.equal(texts.slice(0, -2).toReversed());
    const [item] = newest.data;
    expect(await client.conversations.items.retrieve(item!.id!, { conversation_id: id })).to.deep.equal(item);
    const rest = await client.conversations.items.delete(item!.id!, { conversation_id: id });
    expect(rest).to.include({ id, object: 'conversation' });
    expect(await outline(id)).to.deep.equal(texts.slice(0, -1));
    for (const method of ['GET', 'DELETE'])
      expect((await refused(`/v1/conversations/${id}/items/${item!.id!}`, undefined, { method }))[0]).to.equal(404);
  });

  it('keep the ids of items, unless they are taken', async () => {
    const item = { type: 'message' as const, role: 'user' as const, content: 'Hello', id: 'msg_mine' };
    const { id } = await client.conversations.create({ items: [item] });
    const { data } = await client.conversations.items.create(id, { items: [item, item] });
    const ids = (await itemsOf(id)).map((each) => each.id);
    expect(ids[0]).to.equal('msg_mine');
    expect(new Set(ids).size).to.equal(3);
    expect(ids.slice(1)).to.deep.equal(data.map((each) => each.id));
  });

  for (const model of allInSoak(VENDORS, 2)) {
    it(`are extended by responses, streams and background responses of ${model}`, async () => {
      const { id } = await client.conversations.create({ items: [user('Remember cobalt.')] });
      gateway.simulator.enqueue({ text: 'I will.' }, { text: 'Cobalt.' }, { text: 'Blue.' }, { text: 'Bye.' });
      const first = await client.responses.create({ model, conversation: id, input: 'Please.' });
      expect(first.conversation).to.deep.equal({ id });
      expect(lastSeen()).to.include('Remember cobalt.').and.not.to.include('conv_').and.not.to.include('_gw');
      const stream = await client.responses.create({ model, conversation: { id }, input: 'Which word?', stream: true });
      for await (const event of stream) {
        if (event.type === 'response.created' || event.type === 'response.completed')
          expect(event.response.conversation).to.deep.equal({ id });
        if (event.type === 'response.completed')
          expect((await itemsOf(id)).at(-1)?.id, 'complete before the end').to.equal(event.response.output.at(-1)?.id);
      }
      const sent = lastSeen();
      const places = ['Remember cobalt.', 'Please.', 'I will.', 'Which word?'].map((text) => sent.indexOf(text));
      expect(places).to.deep.equal([...places].sort((a, b) => a - b));
      expect(Math.min(...places)).to.be.greaterThan(-1);
      expect(sent).not.to.include('previous_response_id');
      const background = await client.responses.create({ model, conversation: id, input: 'Colour?', background: true });
      while ((await client.responses.retrieve(background.id)).status !== 'completed');
      const last = await client.responses.create({
        model,
        conversation: id,
        input: 'Bye.',
        background: true,
        stream: true,
      });
      for await (const event of last) expect(event.type).not.to.equal('response.failed');
      expect(await outline(id)).to.deep.equal([
        ...['Remember cobalt.', 'Please.', 'I will.', 'Which word?', 'Cobalt.', 'Colour?', 'Blue.', 'Bye.', 'Bye.'],
      ]);
      expect(lastSeen()).to.include('Blue.');
      expect((await client.responses.retrieve(first.id)).conversation).to.deep.equal({ id });
      const { data } = await client.responses.inputItems.list(first.id);
      expect(data).to.have.length(1);
    });

    it(`hold calls and their outputs, and go on with other vendors, after ${model}`, async () => {
      const { id } = await client.conversations.create();
      gateway.simulator.enqueue({ reasoning: 'I must look.', calls: [{ name: 'get_weather' }] }, { text: 'Sunny.' });
      const first = await client.responses.create({ model, conversation: id, input: 'Weather?', tools: [WEATHER] });
      const call = first.output.find(
        ({ type }) => type === 'function_call',
      ) as OpenAI.Responses.ResponseFunctionToolCall;
      const output = { type: 'function_call_output' as const, call_id: call.call_id, output: 'sun' };
      await client.responses.create({ model, conversation: id, input: [output], tools: [WEATHER] });
      const types = (await itemsOf(id)).map(({ type }) => type).filter((type) => type !== 'reasoning');
      expect(types).to.deep.equal(['message', 'function_call', 'function_call_output', 'message']);
      for (const other of VENDORS) {
        await client.responses.create({ model: other, conversation: id, input: `And ${other}?`, tools: [WEATHER] });
        expect(lastSeen(), other).to.include('sun').and.to.include('Sunny.');
      }
    });

    it(`are extended over a WebSocket by ${model}`, async () => {
      const { id } = await client.conversations.create({ items: [user('Remember cobalt.')] });
      gateway.simulator.enqueue({ text: 'I will.' }, { text: 'Cobalt.' });
      const socket = await openSocket({ url: gateway.url, token: TOKENS.ann });
      for (const text of ['Please.', 'Which word?']) {
        const turn = await socket.turn({ model, conversation: id, store: false, input: text });
        expect(turn.response?.conversation).to.deep.equal({ id });
      }
      expect(lastSeen()).to.include('Remember cobalt.').and.to.include('I will.');
      await socket.close();
      expect(await outline(id)).to.deep.equal(['Remember cobalt.', 'Please.', 'I will.', 'Which word?', 'Cobalt.']);
    });
  }

  it('are the context of a response that continues one of their responses', async () => {
    const { id } = await client.conversations.create({ items: [user('Remember cobalt.')] });
    gateway.simulator.enqueue({ text: 'I will.' }, { text: 'Later.' }, { text: 'Cobalt.' });
    const first = await client.responses.create({ model: 'anthropic', conversation: id, input: 'Please.' });
    await client.responses.create({ model: 'anthropic', conversation: id, input: 'Not seen.' });
    for (const model of ['anthropic', 'openai', 'google']) {
      await client.responses.create({ model, previous_response_id: first.id, input: 'Which word?' });
      expect(lastSeen()).to.include('Remember cobalt.').and.to.include('I will.').and.not.to.include('Not seen.');
    }
    expect(await outline(id), 'not extended').to.have.length(5);
    await client.responses.create({ model: 'groq', conversation: id });
    expect(lastSeen()).to.include('Later.');
  });

  it('are not extended by responses that fail or are cancelled, but by incomplete ones', async () => {
    const { id } = await client.conversations.create({ items: [user('Hello')] });
    gateway.simulator.enqueue({ status: 400, body: { error: { message: 'Wrong.', type: 'invalid_request_error' } } });
    const body = { model: 'openai', conversation: id, input: 'x' };
    expect((await gateway.request('/v1/responses', body)).status).to.equal(400);
    gateway.simulator.enqueue({ text: 'one two three', fault: { kind: 'reset', after: { events: 3 } } });
    await (await gateway.request('/v1/responses', { ...body, model: 'anthropic', stream: true })).text();
    gateway.simulator.enqueue({ fault: { kind: 'stall', after: 'nothing' } });
    const running = await client.responses.create({ ...body, background: true });
    await client.responses.cancel(running.id);
    expect(await outline(id)).to.deep.equal(['Hello']);
    gateway.simulator.enqueue({ text: 'Once upon', incomplete: 'max_output_tokens' });
    await client.responses.create(body);
    expect(await outline(id)).to.deep.equal(['Hello', 'x', 'Once upon']);
  });

  it('stay deleted when a response of theirs ends', async () => {
    const { id } = await client.conversations.create();
    gateway.simulator.enqueue({ text: 'x'.repeat(500), fault: { kind: 'slow', chunkBytes: 32, delayMs: 1 } });
    const running = client.responses.create({ model: 'anthropic', conversation: id, input: 'x' });
    await gateway.simulator.nextRequest();
    await client.conversations.delete(id);
    expect((await running).status).to.equal('completed');
    expect((await refused(`/v1/conversations/${id}/items`))[0]).to.equal(404);
  });

  it('count as input', async () => {
    const { id } = await client.conversations.create({ items: [user('word '.repeat(500))] });
    for (const model of ['openai', 'anthropic', 'groq']) {
      const counted = await client.responses.inputTokens.count({ model, conversation: id });
      expect(counted.input_tokens, model).to.be.greaterThan(400);
    }
  });

  it('leave out of their items what is not included', async () => {
    const { id } = await client.conversations.create();
    gateway.simulator.enqueue({ text: 'Hello.', reasoning: 'A greeting.' });
    await client.responses.create({ model: 'anthropic', conversation: id, input: 'Hi' });
    const [reasoning] = (await itemsOf(id)).filter(({ type }) => type === 'reasoning');
    expect(reasoning).not.to.have.property('encrypted_content');
    const whole = await client.conversations.items.retrieve(reasoning!.id!, {
      conversation_id: id,
      include: ['reasoning.encrypted_content'],
    });
    expect(whole).to.have.property('encrypted_content').that.is.a('string');
  });

  it('are unknown to others, in every way', async () => {
    const { id } = await client.conversations.create({ items: [user('A secret.')] });
    const [item] = await itemsOf(id);
    const bob = async (path: string, body?: unknown, method?: string): Promise<readonly [number, string]> => {
      const response = await gateway.request(path, body, { ...BOB, ...(method === undefined ? {} : { method }) });
      return [response.status, (await response.text()).replaceAll(id, 'conv_unknown')];
    };
    for (const [method, path, body] of [
      ['GET', ''],
      ['POST', '', { metadata: {} }],
      ['DELETE', ''],
      ['GET', '/items'],
      ['POST', '/items', { items: [user('x')] }],
      ['GET', `/items/${item!.id!}`],
      ['DELETE', `/items/${item!.id!}`],
    ] as const) {
      const theirs = await bob(`/v1/conversations/${id}${path}`, body, method);
      expect(theirs[0], `${method} ${path}`).to.equal(404);
      expect(theirs).to.deep.equal(await bob(`/v1/conversations/conv_unknown${path}`, body, method));
    }
    const requests = gateway.simulator.requests.length;
    for (const model of ['openai', 'anthropic']) {
      const theirs = await bob('/v1/responses', { model, input: 'x', conversation: id });
      expect(theirs[0]).to.equal(404);
      expect(theirs).to.deep.equal(await bob('/v1/responses', { model, input: 'x', conversation: 'conv_unknown' }));
      const reference = { model, input: [{ type: 'item_reference', id: item!.id }] };
      expect((await bob('/v1/responses', reference))[0]).to.equal(404);
    }
    expect(gateway.simulator.requests.length, 'no request was sent to a vendor').to.equal(requests);
    expect(await outline(id)).to.deep.equal(['A secret.']);
  });

  it('need the scopes of their routes', async () => {
    const { id } = await client.conversations.create();
    const as = (token: string): { readonly headers: Readonly<Record<string, string>> } => ({
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await gateway.request('/v1/conversations', {}, as(TOKENS.reader))).status).to.equal(403);
    expect((await gateway.request(`/v1/conversations/${id}`, undefined, as(TOKENS.generator))).status).to.equal(403);
    expect((await gateway.request(`/v1/conversations/${id}`, undefined, { method: 'PUT' })).status).to.equal(405);
  });

  for (const [field, value, param = field] of [
    ['metadata', Object.fromEntries(Array.from({ length: 17 }, (_value, index) => [`k${index}`, 'v']))],
    ['metadata', { k: 'x'.repeat(513) }],
    ['metadata', { ['k'.repeat(65)]: 'v' }],
    ['metadata', { k: 1 }],
    ['metadata', 'x'],
    ['items', 'x'],
    ['items', Array.from({ length: 21 }, () => user('x'))],
    ['items', [17], 'items[0]'],
    ['items', [{ type: 'nonsense' }], 'items[0].type'],
    ['items', [{ role: 'user' }], 'items[0].content'],
    ['items', [{ type: 'function_call', name: 'f' }], 'items[0].call_id'],
    ['items', [{ role: 'user', content: 'x', id: 100 }], 'items[0].id'],
    ['items', [{ type: 'vendor:x', id: 100 }], 'items[0].id'],
    ['items', [{ type: 'vendor:x', status: 100 }], 'items[0].status'],
    ['items', [{ role: 'nobody', content: 'x' }], 'items[0].role'],
  ] as const)
    it(`are refused with ${field} ${JSON.stringify(value).slice(0, 50)}`, async () => {
      const { id } = await client.conversations.create();
      const paths = ['/v1/conversations', `/v1/conversations/${id}${field === 'items' ? '/items' : ''}`];
      for (const path of paths) {
        const [status, error] = await refused(path, { [field]: value });
        expect([status, error.param]).to.deep.equal([400, param]);
      }
      expect(await outline(id)).to.deep.equal([]);
    });

  it('are refused with a body that is no object', async () => {
    const { id } = await client.conversations.create({ metadata: { kept: 'yes' } });
    for (const path of ['/v1/conversations', `/v1/conversations/${id}`, `/v1/conversations/${id}/items`])
      for (const body of ['[]', 'null', '"x"', '17', '{']) expect((await refused(path, body))[0], path).to.equal(400);
    expect(await client.conversations.retrieve(id)).to.deep.include({ metadata: { kept: 'yes' } });
  });

  it('are refused in requests together with a previous response, and if they are no id', async () => {
    const { id } = await client.conversations.create();
    for (const stream of [false, true])
      for (const model of ['openai', 'anthropic']) {
        const both = { model, input: 'x', stream, conversation: id, previous_response_id: 'resp_1' };
        const [status, error] = await refused('/v1/responses', both);
        expect([status, error.code, error.param]).to.deep.equal([400, 'mutually_exclusive_parameters', null]);
        for (const conversation of [17, '', {}, { id: 17 }, []])
          expect((await refused('/v1/responses', { model, input: 'x', stream, conversation }))[1].param).to.equal(
            'conversation',
          );
      }
    expect(await outline(id)).to.deep.equal([]);
  });
});

for (const [kind, open] of Object.entries({ memory: undefined, ...DATABASES }))
  describe(`The store of conversations (${kind})`, () => {
    let stores: readonly ResponseConversationStore[];
    let close: () => Promise<void>;
    beforeEach(async () => {
      const opened = await open?.();
      close = async () => opened?.close();
      const memory = new MemoryResponseConversations();
      stores =
        opened === undefined
          ? [memory, memory]
          : await Promise.all([1, 2].map(() => openResponseConversations(opened.database)));
    });
    afterEach(() => close());

    it('loses no items of concurrent turns, and keeps those of each together', async () => {
      await stores[0]!.create({ id: 'conv_1', userId: 'ann', createdAt: 1, metadata: {} });
      const turns = Array.from({ length: 24 }, (_turn, turn) =>
        [0, 1, 2].map(
          (part) => ({ id: `msg_${turn}_${part}`, item: { type: 'message', role: 'user', content: [] } }) as const,
        ),
      );
      const rename = (): never => {
        throw new Error('No id is taken.');
      };
      const results = await Promise.all(
        turns.map((items, turn) => stores[turn % 2]!.append('ann', 'conv_1', items, rename)),
      );
      expect(results).to.deep.equal(turns);
      const history = await stores[1]!.history('ann', 'conv_1');
      const ids = history!.items.map(({ id }) => id);
      expect(ids).to.have.length(72);
      for (const items of turns) {
        const first = ids.indexOf(items[0]!.id);
        expect(ids.slice(first, first + 3)).to.deep.equal(items.map(({ id }) => id));
      }
      expect((await stores[0]!.history('ann', 'conv_1', 3))!.items).to.deep.equal(history!.items.slice(0, 3));
      expect(await stores[0]!.history('bob', 'conv_1')).to.equal(undefined);
    });

    it('brings no items back after a removal', async () => {
      await stores[0]!.create({ id: 'conv_1', userId: 'ann', createdAt: 1, metadata: {} });
      const appending = Array.from({ length: 10 }, (_value, index) =>
        stores[1]!.append(
          'ann',
          'conv_1',
          [{ id: `msg_${index}`, item: { type: 'message', role: 'user', content: [] } }],
          (item) => item,
        ),
      );
      expect(await stores[0]!.remove('ann', 'conv_1')).to.equal(true);
      await Promise.all(appending);
      await stores[0]!.create({ id: 'conv_1', userId: 'ann', createdAt: 2, metadata: {} });
      expect((await stores[0]!.history('ann', 'conv_1'))!.items).to.deep.equal([]);
    });
  });
