/** The gateway's lists of models, as the official SDKs read them. */
import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import OpenAI from 'openai';
import { VENDORS } from '../../imports/business/ai/domain/types/VendorTypes';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

interface GeminiPage {
  readonly models: readonly { readonly name: string }[];
  readonly nextPageToken?: string;
}

describe('the gateway’s models', () => {
  let gateway: Gateway;
  before(async () => {
    gateway = await startGateway();
  });
  after(() => gateway.close());

  const openai = (): OpenAI => new OpenAI({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/v1`, maxRetries: 0 });
  const anthropic = (): Anthropic => new Anthropic({ apiKey: TOKENS.ann, baseURL: gateway.url, maxRetries: 0 });
  const idsOf = async (): Promise<readonly string[]> => (await openai().models.list()).data.map(({ id }) => id);
  const gemini = async (query: string): Promise<GeminiPage> =>
    (await (await gateway.request(`/v1beta/models?${query}`)).json()) as GeminiPage;

  it('are those that the vendors list, each provider’s default first', async () => {
    const ids = await idsOf();
    expect(new Set(ids).size, 'no name twice').to.equal(ids.length);
    for (const vendor of VENDORS) {
      const own = ids.filter((id) => id.startsWith(`${vendor}/`));
      expect(own[0]).to.equal(`${vendor}/default-model`);
      expect(own.length, vendor).to.be.greaterThan(1);
    }
    expect(ids).to.include.members(['openai/gpt-5-mini', 'google/gemini-2.5-flash']);
  });

  it('are read page by page, forwards and backwards', async () => {
    const ids = await idsOf();
    const listed: string[] = [];
    for await (const model of anthropic().models.list({ limit: 3 })) listed.push(model.id);
    expect(listed).to.deep.equal(ids);
    const before = await anthropic().models.list({ limit: 3, before_id: ids[5]! });
    expect(before.data.map(({ id }) => id)).to.deep.equal(ids.slice(2, 5));
    expect(before.has_more).to.equal(true);
    const first = await anthropic().models.list({ limit: 10, before_id: ids[2]! });
    expect(first.data.map(({ id }) => id)).to.deep.equal(ids.slice(0, 2));
    expect(first.has_more).to.equal(false);
    const names: string[] = [];
    for (let token: string | undefined = ''; token !== undefined;) {
      const page: GeminiPage = await gemini(`pageSize=4&pageToken=${encodeURIComponent(token)}`);
      names.push(...page.models.map(({ name }) => name));
      token = page.nextPageToken;
    }
    expect(names).to.deep.equal(ids.map((id) => `models/${id}`));
  });

  it('refuse cursors and sizes that make no sense, in the client’s format', async () => {
    for (const query of ['limit=0', 'limit=1001', 'limit=ten', 'after_id=nothing', 'after_id=a&before_id=b']) {
      const headers = { 'anthropic-version': '2023-06-01' };
      const response = await gateway.request(`/v1/models?${query}`, undefined, { headers });
      expect(response.status, query).to.equal(400);
      expect(await response.json()).to.have.nested.property('error.type', 'invalid_request_error');
    }
    for (const query of ['pageSize=-1', 'pageSize=', 'pageToken=nothing'])
      expect((await gateway.request(`/v1beta/models?${query}`)).status, query).to.equal(400);
  });

  it('tell context, prices and abilities in each format', async () => {
    const id = 'openai/gpt-5-mini';
    const model = (await openai().models.retrieve(id)) as OpenAI.Model & Record<string, unknown>;
    expect(model).to.include({ id, owned_by: 'openai', context_length: 400_000 });
    expect(model['pricing']).to.include({ prompt: '0.00000025', completion: '0.000002' });
    expect(model['supported_parameters']).to.include.members(['tools', 'structured_outputs', 'reasoning']);
    const asAnthropic = await anthropic().models.retrieve(id);
    expect(asAnthropic).to.include({ id, type: 'model', max_input_tokens: 400_000, max_tokens: 128_000 });
    const asGemini = (await (await gateway.request(`/v1beta/models/${id}`)).json()) as Record<string, unknown>;
    expect(asGemini).to.include({ name: `models/${id}`, inputTokenLimit: 400_000, thinking: true });
    const unknown = await openai().models.retrieve('openai_compatible/some-model');
    expect(unknown, 'nothing is invented').to.not.have.any.keys('context_length', 'pricing', 'architecture');
  });

  it('are found by every name that works in a request', async () => {
    for (const id of ['groq', 'gpt-5-mini', 'claude-sonnet-4-5', 'groq/openai/gpt-oss-120b', 'groq/some-model:free']) {
      expect(await openai().models.retrieve(id), id).to.include({ id });
      expect(await anthropic().models.retrieve(id), id).to.include({ id });
      const answer = await openai().responses.create({ model: id, input: 'hi' });
      expect(answer.status).to.equal('completed');
    }
    expect((await gateway.request('/v1/models/nothing')).status).to.equal(404);
  });

  it('are requested from each vendor once in ten minutes, however often they are listed', async () => {
    const own = await startGateway();
    try {
      const list = (): Promise<Response> => own.request('/v1/models');
      const texts = await Promise.all((await Promise.all([list(), list(), list()])).map((each) => each.text()));
      expect(new Set(texts).size).to.equal(1);
      const requests = own.simulator.requests.filter(({ method }) => method === 'GET');
      expect(requests).to.have.length(VENDORS.length);
    } finally {
      await own.close();
    }
  });

  it('are those known of a vendor that is away, and those that a provider is restricted to', async () => {
    const own = await startGateway({
      providers: (simulator) => [
        { ...simulatedRow(simulator, 'anthropic'), baseURL: 'http://127.0.0.1:9', defaultModel: 'claude-sonnet-4-5' },
        { ...simulatedRow(simulator, 'openai'), allowedModels: ['gpt-5-mini'] },
      ],
    });
    try {
      const { data } = (await (await own.request('/v1/models')).json()) as { data: { id: string }[] };
      const ids = data.map(({ id }) => id);
      expect(ids[0]).to.equal('anthropic/claude-sonnet-4-5');
      expect(ids.filter((id) => id.startsWith('anthropic/')).length).to.be.greaterThan(1);
      expect(ids.filter((id) => id.startsWith('openai/'))).to.deep.equal(['openai/gpt-5-mini']);
      expect(own.simulator.requests.filter(({ method }) => method === 'GET')).to.deep.equal([]);
    } finally {
      await own.close();
    }
  });

  it('of a provider that is restricted to some are the only ones for its tools, too', async () => {
    const own = await startGateway({
      providers: (simulator) => [
        { ...simulatedRow(simulator, 'openai'), allowedModels: ['gpt-5-mini', 'gpt-image-1'] },
      ],
    });
    try {
      const ask = (model: string): Promise<Response> =>
        own.request('/v1/responses', {
          model: 'openai/gpt-5-mini',
          input: 'Hello',
          tools: [{ type: 'image_generation', model }],
        });
      const refused = await ask('gpt-image-1-mini');
      expect(refused.status).to.equal(404);
      expect(await refused.text())
        .to.include('tools[0].model')
        .and.include('it has gpt-5-mini, gpt-image-1.');
      expect((await ask('gpt-image-1')).status).to.equal(200);
      expect(own.simulator.requests).to.have.length(1);
    } finally {
      await own.close();
    }
  });
});
