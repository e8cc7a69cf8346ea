/** Batches at vendors, relayed for the official SDKs as clients, each for the user who created it only. */
import Anthropic from '@anthropic-ai/sdk';
import { expect } from 'chai';
import Groq, { toFile as toGroqFile } from 'groq-sdk';
import OpenAI, { toFile } from 'openai';
import { BudgetPolicy } from '../../imports/business/limits/application/BudgetPolicy';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const LINES = ['a', 'b'].map((custom_id) => ({
  custom_id,
  method: 'POST',
  url: '/v1/chat/completions',
  body: { model: 'gpt-4.1-mini', messages: [{ role: 'user', content: 'Hi' }] },
}));
const BATCH = { endpoint: '/v1/chat/completions', completion_window: '24h' } as const;
const REQUESTS = ['a', 'b'].map((custom_id) => ({
  custom_id,
  params: { model: 'claude-sonnet-4-5', max_tokens: 10, messages: [{ role: 'user' as const, content: 'Hi' }] },
}));

describe('the gateway’s batches', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  type User = keyof typeof TOKENS;
  const openai = (user: User = 'ann', provider?: string, url = gateway.url): OpenAI =>
    new OpenAI({
      apiKey: TOKENS[user],
      baseURL: `${url}/v1`,
      maxRetries: 0,
      ...(provider === undefined ? {} : { defaultHeaders: { 'x-bolide-provider': provider } }),
    });
  const anthropic = (user: User = 'ann', baseURL = gateway.url): Anthropic =>
    new Anthropic({ apiKey: TOKENS[user], baseURL, maxRetries: 0 });
  const failureOf = (call: Promise<unknown>): Promise<JsonObject> =>
    call.then(
      () => ({ status: 200 }),
      (error: unknown) => error as JsonObject,
    );
  const statusOf = async (call: Promise<unknown>): Promise<unknown> => (await failureOf(call)).status;
  const uploaded = async (client: OpenAI, lines: readonly unknown[] = LINES): Promise<string> => {
    const text = lines.map((line) => (typeof line === 'string' ? line : JSON.stringify(line))).join('\n');
    return (await client.files.create({ file: await toFile(Buffer.from(text), 'x.jsonl'), purpose: 'batch' })).id;
  };

  for (const vendor of ['openai', 'azure_openai', 'groq'] as const)
    it(`of OpenAI's client at ${vendor} are created, listed, read and cancelled, with results for their user`, async () => {
      const input_file_id = await uploaded(openai('ann', vendor));
      const created = await openai().batches.create({ ...BATCH, input_file_id, metadata: { name: 'first' } });
      expect(created).to.deep.include({ object: 'batch', status: 'validating', metadata: { name: 'first' } });
      const batch = await openai().batches.retrieve(created.id);
      expect(batch.status).to.equal('completed');
      expect((await openai('ann', vendor).batches.list()).data.map(({ id }) => id)).to.deep.equal([batch.id]);
      const output = await (await openai().files.content(batch.output_file_id!)).text();
      expect(output.split('\n').map((line) => fieldsOf(JSON.parse(line))['custom_id'])).to.deep.equal(['a', 'b']);
      expect(await statusOf(openai('bob').files.content(batch.output_file_id!))).to.equal(404);
      expect((await openai().batches.cancel(batch.id)).status).to.equal('cancelling');
      expect(new Set(gateway.simulator.requests.map((request) => request.vendor))).to.deep.equal(new Set([vendor]));
    });

  it('of Groq’s client are at Groq', async () => {
    const groq = new Groq({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/groq`, maxRetries: 0 });
    const file = await groq.files.create({
      file: await toGroqFile(Buffer.from(JSON.stringify(LINES[0])), 'x.jsonl'),
      purpose: 'batch',
    });
    const { id } = await groq.batches.create({ ...BATCH, input_file_id: file.id! });
    expect((await groq.batches.retrieve(id)).status).to.equal('completed');
    expect((await groq.batches.list()).data.map((each) => each.id)).to.deep.equal([id]);
    expect(new Set(gateway.simulator.requests.map(({ vendor }) => vendor))).to.deep.equal(new Set(['groq']));
  });

  for (const prefix of ['', '/anthropic'])
    it(`of Anthropic's client below "${prefix}" are created, listed, read, cancelled and deleted, with results`, async () => {
      const client = anthropic('ann', gateway.url + prefix);
      const created = await client.messages.batches.create({ requests: REQUESTS });
      expect(created).to.include({ type: 'message_batch', processing_status: 'in_progress', results_url: null });
      const batch = await client.messages.batches.retrieve(created.id);
      expect(batch.results_url).to.equal(`${gateway.url}${prefix}/v1/messages/batches/${created.id}/results`);
      const results = [];
      for await (const { custom_id, result } of await client.messages.batches.results(created.id))
        results.push([custom_id, result.type]);
      // In any order.
      expect(results).to.have.deep.members([
        ['a', 'succeeded'],
        ['b', 'succeeded'],
      ]);
      const listed = [];
      for await (const each of client.messages.batches.list()) listed.push([each.id, each.results_url]);
      expect(listed).to.deep.equal([[batch.id, batch.results_url]]);
      expect((await client.messages.batches.cancel(batch.id)).processing_status).to.equal('canceling');
      expect((await client.messages.batches.delete(batch.id)).id).to.equal(batch.id);
      expect(await statusOf(client.messages.batches.retrieve(batch.id))).to.equal(404);
      expect(gateway.simulator.requests.every(({ vendor }) => vendor === 'anthropic')).to.equal(true);
    });

  it('are bound to the user who created them', async () => {
    const input_file_id = await uploaded(openai());
    const { id } = await openai().batches.create({ ...BATCH, input_file_id });
    const bob = openai('bob');
    const before = gateway.simulator.requests.length;
    for (const call of [
      bob.batches.retrieve(id),
      bob.batches.cancel(id),
      bob.batches.create({ ...BATCH, input_file_id }),
    ])
      expect(await statusOf(call)).to.equal(404);
    expect(gateway.simulator.requests).to.have.length(before);
    expect((await bob.batches.list()).data).to.deep.equal([]);
    expect((await openai('admin').batches.list()).data).to.have.length(1);

    const message = await anthropic().messages.batches.create({ requests: REQUESTS });
    const { batches } = anthropic('bob').messages;
    for (const call of [batches.retrieve(message.id), batches.cancel(message.id), batches.delete(message.id)])
      expect(await statusOf(call)).to.equal(404);
    const results = await gateway.request(`/v1/messages/batches/${message.id}/results`, undefined, {
      headers: { authorization: `Bearer ${TOKENS.bob}` },
    });
    expect(results.status).to.equal(404);
    expect(await results.json()).to.have.nested.property('error.type', 'not_found_error');
    expect((await batches.list()).data).to.deep.equal([]);
  });

  it('contain no request that continues what others have created', async () => {
    const bob = openai('bob');
    const file = await uploaded(openai());
    for (const [fields, status] of [
      [{ previous_response_id: 'resp_1' }, 400],
      [{ conversation: 'conv_1' }, 400],
      [{ messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: file } }] }] }, 404],
      [{ input: [{ role: 'user', content: [{ type: 'input_image', file_id: file }] }] }, 404],
    ] as const) {
      const lines = [LINES[0], { ...LINES[1], body: { ...LINES[1]!.body, ...fields } }];
      const failure = await failureOf(bob.batches.create({ ...BATCH, input_file_id: await uploaded(bob, lines) }));
      expect(failure.status, JSON.stringify(fields)).to.equal(status);
    }
    expect(
      await statusOf(bob.batches.create({ ...BATCH, input_file_id: await uploaded(bob, ['{"custom', 'x']) })),
    ).to.equal(400);
    const params = { ...REQUESTS[0]!.params, container: 'container_1' };
    expect(await statusOf(anthropic().messages.batches.create({ requests: [{ custom_id: 'a', params }] }))).to.equal(
      404,
    );
    const source = { type: 'file' as const, file_id: 'file_1' };
    const withFile = { role: 'user' as const, content: [{ type: 'document', source }] } as never;
    expect(
      await statusOf(
        anthropic().messages.batches.create({
          requests: [{ custom_id: 'a', params: { ...REQUESTS[0]!.params, messages: [withFile] } }],
        }),
      ),
    ).to.equal(404);
    expect(gateway.simulator.requests.some(({ path }) => path.endsWith('/batches'))).to.equal(false);
  });

  it('use the models only that their provider is restricted to', async () => {
    const own = await startGateway({
      providers: (simulator) => [
        { ...simulatedRow(simulator, 'openai'), allowedModels: ['gpt-5-mini'] },
        { ...simulatedRow(simulator, 'anthropic'), allowedModels: ['claude-haiku-4-5'] },
      ],
    });
    try {
      for (const user of ['ann', 'admin'] as const) {
        const client = openai(user, undefined, own.url);
        const failure = await failureOf(client.batches.create({ ...BATCH, input_file_id: await uploaded(client) }));
        expect(failure).to.include({ status: 404, code: 'model_not_found' });
        expect(failure.message).to.include('gpt-5-mini').and.include('line 1');
      }
      const { batches } = anthropic('ann', own.url).messages;
      expect(await statusOf(batches.create({ requests: REQUESTS }))).to.equal(404);
      const requests = REQUESTS.map((each) => ({
        ...each,
        params: { ...each.params, model: 'anthropic/claude-haiku-4-5' },
      }));
      expect((await batches.create({ requests })).type).to.equal('message_batch');
      expect(JSON.stringify(own.simulator.requests.at(-1)?.body)).to.include('"model":"claude-haiku-4-5"');
    } finally {
      await own.close();
    }
  });

  it('are refused to users with a budget, which would not count them', async () => {
    const own = await startGateway({
      module: { budgetPolicy: new BudgetPolicy({ settings: { users: { ann: { day: { calls: 10 } } } } }) },
    });
    try {
      const failure = await failureOf(anthropic('ann', own.url).messages.batches.create({ requests: REQUESTS }));
      expect(failure.status).to.equal(402);
      expect(await statusOf(anthropic('bob', own.url).messages.batches.create({ requests: REQUESTS }))).to.equal(200);
    } finally {
      await own.close();
    }
  });

  it('name what is wrong with a request, in the client’s form', async () => {
    for (const [path, body] of [
      ['/v1/batches', []],
      ['/v1/batches', {}],
      ['/v1/batches', { input_file_id: 7 }],
      ['/v1/batches', { input_file_id: '..' }],
      ['/v1/messages/batches', {}],
      ['/v1/messages/batches', { requests: [] }],
      ['/v1/messages/batches', { requests: ['x'] }],
      ['/v1/messages/batches', { requests: [{ custom_id: 'a' }] }],
    ] as const) {
      const response = await gateway.request(path, body);
      expect(response.status, `${path} ${JSON.stringify(body)}`).to.equal(400);
      const { type, error } = fieldsOf(await response.json());
      expect(type).to.equal(path === '/v1/batches' ? undefined : 'error');
      expect(fieldsOf(error)['message']).to.be.a('string');
    }
    const input_file_id = await uploaded(openai());
    const failure = await failureOf(
      openai().batches.create({ ...BATCH, input_file_id, completion_window: '1h' as '24h' }),
    );
    expect(failure).to.include({ status: 400, param: 'completion_window' });
    const reader = { headers: { authorization: `Bearer ${TOKENS.reader}` } };
    expect((await gateway.request('/v1/batches', { input_file_id }, reader)).status).to.equal(403);
  });

  it('pass on what Anthropic refuses', async () => {
    gateway.simulator.enqueue({
      status: 413,
      body: { type: 'error', error: { type: 'request_too_large', message: 'Too large.' } },
      headers: { 'request-id': 'req_vendor' },
    });
    const response = await gateway.request('/v1/messages/batches', { requests: REQUESTS });
    expect(response.status).to.equal(413);
    expect(response.headers.get('request-id')).to.equal('req_vendor');
    expect(fieldsOf(await response.json())['error']).to.deep.equal({
      type: 'request_too_large',
      message: 'Too large.',
    });
  });
});
