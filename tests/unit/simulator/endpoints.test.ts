/** The endpoints other than generation at each vendor: URLs, keys and lists. */
import { expect } from 'chai';
import { VENDORS } from '../../../imports/business/ai/domain/types/VendorTypes';
import type { VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import { findRoute } from '../../../imports/simulator/exchange/findRoute';
import type { Simulator } from '../../../imports/simulator/Simulator';
import { startSimulator } from '../../../imports/simulator/startSimulator';
import { anthropicClient, azureClient, failureOf, groqClient, openaiClient } from './clients';
import { CHAT_ADDRESS, post } from './post';

const CHAT = { model: 'some-model', messages: [{ role: 'user' as const, content: 'Hello.' }] };

describe('the simulator’s URLs', () => {
  const operationAt = (method: string, url: string): unknown => {
    const { pathname, searchParams } = new URL(url, 'http://x');
    return findRoute(method, pathname, Object.fromEntries(searchParams))?.operation;
  };

  it('cover the endpoints of each vendor', () => {
    const chat = { kind: 'generate', wire: 'chat_completions' };
    for (const address of Object.values(CHAT_ADDRESS)) expect(operationAt('POST', address)).to.deep.equal(chat);
    expect(operationAt('POST', '/azure//openai/deployments/dep%201/chat/completions?api-version=1')).to.deep.equal({
      ...chat,
      model: 'dep 1',
    });
    expect(operationAt('POST', '/azure/models/chat/completions?api-version=1')).to.deep.equal(chat);
    expect(operationAt('POST', '/azure/openai/v1/responses')).to.deep.equal({ kind: 'generate', wire: 'responses' });
    expect(operationAt('GET', '/openai/v1/responses/resp_1')).to.deep.equal({
      kind: 'stored-response',
      id: 'resp_1',
      action: 'read',
    });
    expect(operationAt('POST', '/openai/v1/responses/resp_1/cancel')).to.deep.equal({
      kind: 'stored-response',
      id: 'resp_1',
      action: 'cancel',
    });
    expect(operationAt('POST', '/anthropic/v1/messages?beta=true')).to.deep.equal({
      kind: 'generate',
      wire: 'anthropic_messages',
    });
    expect(
      operationAt(
        'POST',
        '/google/v1beta1/projects/p/locations/l/publishers/google/models/m:streamGenerateContent?alt=sse',
      ),
    ).to.deep.equal({
      kind: 'generate',
      wire: 'gemini',
      model: 'm',
      stream: true,
      asArray: false,
      schema: 'vertex.generateContent',
    });
  });

  it('cover no other endpoints', () => {
    expect(operationAt('POST', '/azure/openai/deployments/d/chat/completions'), 'without a version').to.equal(
      undefined,
    );
    expect(operationAt('POST', '/groq/openai/v1/responses'), 'a wire that Groq lacks').to.equal(undefined);
    expect(operationAt('GET', '/openai/v1/chat/completions')).to.equal(undefined);
    expect(operationAt('POST', '/anthropic/v1/complete')).to.equal(undefined);
    expect(operationAt('POST', '/google/v1beta/models/m:embedContent')).to.equal(undefined);
    expect(findRoute('POST', '/unknown/v1/chat/completions', {})).to.equal(undefined);
  });
});

describe('the simulator’s authentication', () => {
  let simulator: Simulator;

  before(async () => {
    simulator = await startSimulator();
  });
  after(() => simulator.close());

  const probe = (vendor: VendorName, headers: Record<string, string>): Promise<Response> => {
    const tail =
      vendor === 'anthropic'
        ? '/v1/models'
        : vendor === 'google'
          ? '/v1beta/models'
          : vendor === 'groq' || vendor === 'azure_openai'
            ? '/openai/v1/models'
            : '/models';
    return fetch(simulator.baseURL(vendor) + tail, { headers });
  };

  for (const vendor of VENDORS) {
    it(`${vendor} lists models for a valid key, and rejects bad-key`, async () => {
      const header =
        { anthropic: 'x-api-key', google: 'x-goog-api-key', azure_openai: 'api-key' }[vendor as string] ??
        'authorization';
      const value = (key: string): Record<string, string> => ({
        [header]: header === 'authorization' ? `Bearer ${key}` : key,
      });
      const good = await probe(vendor, value('good'));
      expect(good.status).to.equal(200);
      expect(JSON.stringify(await good.json())).to.include('"');
      const bad = await probe(vendor, value('bad-key'));
      expect(bad.status).to.equal(vendor === 'google' || vendor === 'grok' ? 400 : 401);
      const missing = await probe(vendor, {});
      expect(missing.status).to.equal({ google: 403, openai_compatible: 200 }[vendor as string] ?? 401);
    });
  }

  it('accepts a bearer token from vendors that accept both headers', async () => {
    for (const vendor of ['anthropic', 'google', 'azure_openai'] as const)
      expect((await probe(vendor, { authorization: 'Bearer token' })).status).to.equal(200);
  });

  it('triggers the SDKs’ own errors for a bad key', async () => {
    const failures = await Promise.all([
      failureOf(openaiClient(simulator, 'openai', 'bad-key').models.list()),
      failureOf(azureClient(simulator, 'bad-key').chat.completions.create(CHAT)),
      failureOf(anthropicClient(simulator, 'bad-key').models.list()),
      failureOf(groqClient(simulator, 'bad-key').models.list()),
    ]);
    expect(failures.map((failure) => failure.constructor.name)).to.deep.equal(
      Array.from({ length: 4 }, () => 'AuthenticationError'),
    );
    expect((await failureOf(openaiClient(simulator, 'grok', 'bad-key').models.list())).message).to.include(
      'Incorrect API key provided',
    );
  });

  it('accepts every model name but one', async () => {
    const failure = await failureOf(
      openaiClient(simulator).chat.completions.create({ ...CHAT, model: 'no-such-model' }),
    );
    expect(failure).to.include({ status: 404, code: 'model_not_found' });
    expect(
      (await failureOf(groqClient(simulator).chat.completions.create({ ...CHAT, model: 'no-such-model' }))).message,
    ).to.include('does not exist');
    expect(
      await failureOf(azureClient(simulator).chat.completions.create({ ...CHAT, model: 'no-such-model' })),
    ).to.include({
      code: 'DeploymentNotFound',
    });
  });

  it('responds to unknown URLs with 404, in the vendor’s format if there is one', async () => {
    const unknown = await post(simulator, '/anthropic/v1/complete', {});
    expect([unknown.status, ((await unknown.json()) as { type: string }).type]).to.deep.equal([404, 'error']);
    expect((await post(simulator, '/unknown/v1', {})).status).to.equal(404);
  });

  it('handles many concurrent requests', async () => {
    const responses = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        openaiClient(simulator).chat.completions.create({
          ...CHAT,
          messages: [{ role: 'user', content: `Number ${index}.` }],
        }),
      ),
    );
    responses.forEach((response, index) => expect(response.choices[0]?.message.content).to.include(`Number ${index}.`));
  });
});
