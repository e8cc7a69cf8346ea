/** `GET /v1/responses/:id/input_items`, by OpenAI's SDK and by hand. */
import { expect } from 'chai';
import OpenAI from 'openai';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC';
const user = (content: string): { readonly role: 'user'; readonly content: string } => ({ role: 'user', content });

describe('The input items of a response', () => {
  let gateway: Gateway;
  let client: OpenAI;
  beforeEach(async () => {
    gateway = await startGateway();
    client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: TOKENS.ann, maxRetries: 0 });
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  async function listed(id: string, query: OpenAI.Responses.InputItemListParams = {}): Promise<readonly JsonObject[]> {
    const items: JsonObject[] = [];
    for await (const item of client.responses.inputItems.list(id, query)) items.push(item as unknown as JsonObject);
    return items;
  }

  const textsOf = (items: readonly JsonObject[]): readonly unknown[] =>
    items.map(({ content }) => (content as readonly JsonObject[])[0]?.text);

  for (const model of VENDORS) {
    it(`are listed page by page in both orders, with ${model}`, async () => {
      const texts = Array.from({ length: 25 }, (_value, index) => `Question ${index}`);
      const { id } = await client.responses.create({ model, input: texts.map(user) });
      expect(textsOf(await listed(id, { order: 'asc' }))).to.deep.equal(texts);
      expect(textsOf(await listed(id, { limit: 7 }))).to.deep.equal(texts.toReversed());
      const first = await client.responses.inputItems.list(id, { order: 'asc' });
      expect(first.data).to.have.length(20);
      expect(first.has_more).to.equal(true);
      const rest = await client.responses.inputItems.list(id, { order: 'asc', after: first.data.at(-1)!.id });
      expect(rest.data).to.have.length(5);
      expect(rest.has_more).to.equal(false);
      const beta = await client.beta.responses.inputItems.list(id, { order: 'asc' });
      expect(beta.data).to.deep.equal(first.data);
      expect(first.data[0]).to.include({ type: 'message', role: 'user', status: 'completed' });
    });

    it(`are the items of the request alone, and can be referred to, with ${model}`, async () => {
      const first = await client.responses.create({ model, input: 'Remember cobalt.' });
      const second = await client.responses.create({ model, input: 'Which word?', previous_response_id: first.id });
      expect(textsOf(await listed(second.id))).to.deep.equal(['Which word?']);
      const [item] = await listed(first.id);
      await client.responses.create({
        model,
        input: [{ type: 'item_reference', id: String(item?.id) }, user('Which word, again?')],
      });
      const sent = JSON.stringify(gateway.simulator.requests.at(-1)!.body);
      expect(sent).to.include('Remember cobalt.').and.not.to.include('gwin');
    });
  }

  it('are there while the response is in the background, and of a streamed response', async () => {
    gateway.simulator.enqueue({ fault: { kind: 'stall', after: 'nothing' } });
    const running = await client.responses.create({ model: 'anthropic', input: 'Slowly.', background: true });
    expect(textsOf(await listed(running.id))).to.deep.equal(['Slowly.']);
    await client.responses.cancel(running.id);
    let streamedId = '';
    for await (const event of await client.responses.create({ model: 'google', input: 'Stream.', stream: true }))
      if (event.type === 'response.created') streamedId = event.response.id;
    expect(textsOf(await listed(streamedId))).to.deep.equal(['Stream.']);
  });

  it('leave out what is not included', async () => {
    gateway.simulator.enqueue({ text: 'Hello.', reasoning: 'A greeting.' });
    const first = await client.responses.create({ model: 'anthropic', input: 'Hi', store: false });
    const image = { type: 'input_image' as const, image_url: PNG, detail: 'low' as const };
    const { id } = await client.responses.create({
      model: 'anthropic',
      input: [user('Hi'), ...(first.output as OpenAI.Responses.ResponseInput), { role: 'user', content: [image] }],
    });
    const [, reasoning, , picture] = await listed(id, { order: 'asc' });
    expect(reasoning).to.include({ type: 'reasoning' }).and.not.to.have.property('encrypted_content');
    expect(picture?.content).to.deep.equal([{ ...image, image_url: null }]);
    const [, whole, , shown] = await listed(id, {
      order: 'asc',
      include: ['reasoning.encrypted_content', 'message.input_image.image_url'],
    });
    expect(whole?.encrypted_content).to.be.a('string').that.is.not.empty;
    expect(shown?.content).to.deep.equal([image]);
  });

  it('are refused to others like those of an unknown response, and after the response is deleted', async () => {
    const { id } = await client.responses.create({ model: 'google', input: 'A secret.' });
    const bob = { headers: { authorization: `Bearer ${TOKENS.bob}` } };
    const [theirs, unknown] = await Promise.all([
      gateway.request(`/v1/responses/${id}/input_items`, undefined, bob),
      gateway.request('/v1/responses/resp_unknown/input_items', undefined, bob),
    ]);
    expect([theirs.status, unknown.status]).to.deep.equal([404, 404]);
    expect((await theirs.text()).replace(id, 'resp_unknown')).to.equal(await unknown.text());
    const items = await listed(id);
    const reference = { model: 'google', input: [{ type: 'item_reference', id: items[0]?.id }] };
    expect((await gateway.request('/v1/responses', reference, bob)).status).to.equal(404);
    await client.responses.delete(id);
    expect((await gateway.request(`/v1/responses/${id}/input_items`)).status).to.equal(404);
  });

  for (const [query, param] of [
    ['limit=0', 'limit'],
    ['limit=101', 'limit'],
    ['limit=1.5', 'limit'],
    ['limit=many', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['order=up', 'order'],
    ['after=msg_unknown', 'after'],
    ['after=a&after=b', 'after'],
    ['include[]=everything', 'include'],
    ['include=everything', 'include'],
  ] as const)
    it(`are refused with ${query}`, async () => {
      const { id } = await client.responses.create({ model: 'google', input: 'Hi' });
      const response = await gateway.request(`/v1/responses/${id}/input_items?${query}`);
      const { error } = (await response.json()) as { readonly error: JsonObject };
      expect([response.status, error.param]).to.deep.equal([400, param]);
    });
});
