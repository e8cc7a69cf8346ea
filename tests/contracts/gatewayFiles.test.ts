/** Files at vendors, relayed for the official SDKs as clients, each for the user who created it only. */
import { createHash } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import Anthropic, { toFile as toAnthropicFile } from '@anthropic-ai/sdk';
import { expect } from 'chai';
import Groq, { toFile as toGroqFile } from 'groq-sdk';
import OpenAI, { AzureOpenAI, toFile } from 'openai';
import { fieldsOf } from '../../imports/business/ai/domain/util/json';
import { simulatedRow, startGateway, TOKENS } from '../support/gateway';
import type { Gateway } from '../support/gateway';

const BYTES = Buffer.from(Array.from({ length: 300_000 }, (_, index) => (index * 7) % 256));

describe('the gateway’s files', () => {
  let gateway: Gateway;
  beforeEach(async () => {
    gateway = await startGateway();
  });
  afterEach(async () => {
    await gateway.close();
    expect(gateway.unexpected).to.deep.equal([]);
  });

  type User = keyof typeof TOKENS;
  const openai = (user: User = 'ann', headers: Record<string, string> = {}): OpenAI =>
    new OpenAI({ apiKey: TOKENS[user], baseURL: `${gateway.url}/v1`, maxRetries: 0, defaultHeaders: headers });
  const anthropic = (user: User = 'ann'): Anthropic =>
    new Anthropic({ apiKey: TOKENS[user], baseURL: gateway.url, maxRetries: 0 });
  const statusOf = (call: Promise<unknown>): Promise<unknown> =>
    call.then(
      () => 200,
      (error: unknown) => fieldsOf(error)['status'],
    );
  const uploaded = async (client: OpenAI, name = 'bytes.bin'): Promise<string> =>
    (await client.files.create({ file: await toFile(BYTES, name), purpose: 'user_data' })).id;

  for (const vendor of ['openai', 'azure_openai', 'groq'] as const)
    it(`of OpenAI's client at ${vendor} are created, listed, read, downloaded and deleted`, async () => {
      const client = openai('ann', { 'x-bolide-provider': vendor });
      const file = await client.files.create({ file: await toFile(BYTES, 'bytes.bin'), purpose: 'user_data' });
      expect(file).to.include({ object: 'file', bytes: BYTES.length, filename: 'bytes.bin', purpose: 'user_data' });
      expect((await client.files.list()).data).to.deep.equal([file]);
      expect(await openai().files.retrieve(file.id)).to.deep.equal(file);
      const content = Buffer.from(await (await openai().files.content(file.id)).arrayBuffer());
      expect(content.equals(BYTES)).to.equal(true);
      expect(await client.files.delete(file.id)).to.deep.equal({ id: file.id, object: 'file', deleted: true });
      expect(await statusOf(client.files.retrieve(file.id))).to.equal(404);
      const requests = gateway.simulator.requests;
      expect(new Set(requests.map((request) => request.vendor))).to.deep.equal(new Set([vendor]));
      for (const { headers, query } of requests) {
        expect(JSON.stringify(headers)).to.not.include(TOKENS.ann);
        expect(query).to.not.have.property('provider');
      }
    });

  it('of Groq’s and Azure’s clients are at their vendors by their paths', async () => {
    const groq = new Groq({ apiKey: TOKENS.ann, baseURL: `${gateway.url}/groq`, maxRetries: 0 });
    const file = await groq.files.create({ file: await toGroqFile(Buffer.from('{}'), 'x.jsonl'), purpose: 'batch' });
    expect((await groq.files.list()).data.map(({ id }) => id)).to.deep.equal([file.id]);
    expect(gateway.simulator.requests.map(({ vendor }) => vendor)).to.deep.equal(['groq', 'groq']);
    const azure = new AzureOpenAI({ endpoint: gateway.url, apiKey: TOKENS.ann, apiVersion: '2025-04-01-preview' });
    const other = await azure.files.create({ file: await toFile(BYTES, 'x'), purpose: 'user_data' });
    expect((await azure.files.list()).data.map(({ id }) => id)).to.deep.equal([other.id]);
  });

  it('of Anthropic’s client are at Anthropic', async () => {
    const client = anthropic();
    const file = await client.beta.files.upload({ file: await toAnthropicFile(Buffer.from('Hello'), 'hello.txt') });
    expect(file).to.include({ type: 'file', filename: 'hello.txt', size_bytes: 5 });
    const [request] = gateway.simulator.requests;
    expect(request?.vendor).to.equal('anthropic');
    expect(request?.headers).to.not.have.property('authorization');
    expect(request?.headers['anthropic-version']).to.match(/^20/);
    expect(await client.beta.files.retrieveMetadata(file.id)).to.deep.equal(file);
    const ids = [];
    for await (const { id } of client.beta.files.list()) ids.push(id);
    expect(ids).to.deep.equal([file.id]);
    const refused: unknown = await client.beta.files.download(file.id).catch((error: unknown) => error);
    expect(refused).to.include({ status: 400 });
    expect(String(refused)).to.include('not downloadable');
    expect(await client.beta.files.delete(file.id)).to.include({ id: file.id });
    expect(await statusOf(client.beta.files.retrieveMetadata(file.id))).to.equal(404);
  });

  it('are bound to the user who created them, who may share a key with others', async () => {
    const id = await uploaded(openai());
    const others = await uploaded(openai('bob'), 'of-bob.bin');
    const bob = openai('bob');
    const before = gateway.simulator.requests.length;
    for (const call of [bob.files.retrieve(id), bob.files.content(id), bob.files.delete(id)])
      expect(await statusOf(call)).to.equal(404);
    expect(gateway.simulator.requests).to.have.length(before);
    const unknown: unknown = await bob.files.retrieve('file-unknown').catch((error: unknown) => error);
    expect(unknown).to.include({ status: 404 });
    expect(fieldsOf(unknown)['error']).to.deep.include({ message: 'File "file-unknown" not found.' });
    expect((await bob.files.list()).data.map((file) => file.id)).to.deep.equal([others]);
    const page: unknown = await (await bob.files.list().asResponse()).json();
    expect(page).to.include({ first_id: others, last_id: others });
    expect((await openai().files.list()).data.map((file) => file.id)).to.deep.equal([id]);
    expect((await openai('admin').files.list()).data).to.have.length(2);
    expect((await openai('admin').files.retrieve(id)).id).to.equal(id);
    const foreign = await anthropic().beta.files.upload({ file: await toAnthropicFile(BYTES, 'x') });
    expect(await statusOf(anthropic('bob').beta.files.retrieveMetadata(foreign.id))).to.equal(404);
    expect((await anthropic('bob').beta.files.list()).data).to.deep.equal([]);
  });

  it('are listed past the pages of others', async () => {
    const first = await uploaded(openai());
    for (let count = 0; count < 5; count += 1) await uploaded(openai('bob'));
    const second = await uploaded(openai());
    const ids = [];
    for await (const { id } of openai().files.list({ limit: 2 })) ids.push(id);
    expect(ids).to.deep.equal([second, first]);
    const { id: own } = await anthropic().beta.files.upload({ file: await toAnthropicFile(BYTES, 'x') });
    for (let count = 0; count < 5; count += 1)
      await anthropic('bob').beta.files.upload({ file: await toAnthropicFile(BYTES, 'x') });
    expect((await anthropic().beta.files.list({ limit: 2 })).data.map(({ id }) => id)).to.deep.equal([own]);
  });

  for (const [model, shape] of [
    ['openai', 'responses'],
    ['openai', 'chat'],
  ] as const)
    it(`can be used in a ${shape} request by their user only`, async () => {
      const id = await uploaded(openai());
      const ask = (user: User): Promise<unknown> =>
        shape === 'responses'
          ? openai(user).responses.create({
              model,
              input: [{ role: 'user', content: [{ type: 'input_file', file_id: id }] }],
            })
          : openai(user).chat.completions.create({
              model,
              messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: id } }] }],
            });
      expect(await statusOf(ask('ann'))).to.equal(200);
      expect(await statusOf(ask('bob'))).to.equal(404);
    });

  it('need a token, its scope, a provider and a form', async () => {
    const post = async (init: RequestInit & { headers: Record<string, string> }): Promise<Response> =>
      gateway.request('/v1/files', undefined, { method: 'POST', ...init });
    const form = new FormData();
    form.set('purpose', 'user_data');
    form.set('file', new Blob(['x']), 'x');
    expect((await post({ body: form, headers: { authorization: '' } })).status).to.equal(401);
    expect((await post({ body: form, headers: { authorization: `Bearer ${TOKENS.reader}` } })).status).to.equal(403);
    const named = await post({ body: form, headers: { 'x-bolide-provider': 'nothing' } });
    expect(named.status).to.equal(404);
    expect(fieldsOf(fieldsOf(await named.json())['error'])['message'])
      .to.include('openai')
      .and.include('groq');
    expect((await post({ body: '{}', headers: { 'content-type': 'application/json' } })).status).to.equal(415);
    const incomplete = new FormData();
    incomplete.set('purpose', 'user_data');
    const refused = await post({ body: incomplete, headers: {} });
    expect(refused.status).to.equal(400);
    expect(await refused.json()).to.deep.include({
      error: { message: "'file' is a required property", type: 'invalid_request_error', param: 'file', code: null },
    });
    const asAnthropic = await post({ body: '{}', headers: { 'anthropic-version': '2023-06-01' } });
    expect(await asAnthropic.json()).to.have.property('type', 'error');
    for (const path of ['/v1/files/..', '/v1/files/%2e%2e', '/v1/files/a%2fb'])
      expect((await gateway.request(path)).status, path).to.equal(404);
    expect((await gateway.request('/v1/files', undefined, { method: 'PUT' })).status).to.equal(405);
    const google = await gateway.request('/upload/v1beta/files', undefined, {
      method: 'POST',
      headers: { authorization: '', 'x-goog-api-key': TOKENS.ann, 'x-goog-upload-protocol': 'resumable' },
    });
    expect(google.status).to.equal(501);
    expect(fieldsOf(await google.json())['error']).to.include({ code: 501 });
  });

  it('are no larger than the body limit, whether their length is announced or not', async () => {
    const small = await startGateway({ api: { limits: { maxBodyBytes: 10_000 } } });
    try {
      const head = '--b\r\ncontent-disposition: form-data; name="file"; filename="x"\r\n\r\n';
      for (const announced of [true, false]) {
        const status = await new Promise<number | undefined>((resolve, reject) => {
          const sent = httpRequest(
            `${small.url}/v1/files`,
            {
              method: 'POST',
              headers: {
                authorization: `Bearer ${TOKENS.ann}`,
                'content-type': 'multipart/form-data; boundary=b',
                ...(announced ? { 'content-length': 200_000 } : {}),
              },
            },
            (response) => {
              response.resume();
              resolve(response.statusCode);
            },
          );
          sent.on('error', reject);
          sent.write(head);
          sent.end(Buffer.alloc(200_000 - head.length));
        });
        expect(status).to.equal(413);
      }
      expect(small.unexpected).to.deep.equal([]);
    } finally {
      await small.close();
    }
  });

  it('pass on the vendor’s error and headers, without its key', async () => {
    gateway.simulator.enqueue({
      status: 429,
      body: { error: { message: 'Too many files.', type: 'requests', param: null, code: 'rate_limit_exceeded' } },
      headers: { 'retry-after': '3', 'x-ratelimit-limit-requests': '9', 'openai-organization': 'secret-org' },
    });
    const response = await gateway.request('/v1/files');
    expect(response.status).to.equal(429);
    expect(response.headers.get('retry-after')).to.equal('3');
    expect(response.headers.get('x-ratelimit-limit-requests')).to.equal('9');
    expect(response.headers.get('openai-organization')).to.equal(null);
    expect(await response.json()).to.deep.equal({
      error: { message: 'Too many files.', type: 'requests', param: null, code: 'rate_limit_exceeded' },
    });
    const away = await startGateway({
      providers: (simulator) => [{ ...simulatedRow(simulator, 'openai'), baseURL: 'http://127.0.0.1:9' }],
    });
    try {
      expect((await away.request('/v1/files')).status).to.equal(502);
    } finally {
      await away.close();
    }
  });

  for (const [disposition, sent] of [
    [undefined, 'attachment'],
    ['inline; filename="page.html"', 'attachment; filename="page.html"'],
    [
      'form-data; name="x"; filename=a.html; filename*=UTF-8\'\'%c3%a4.html',
      "attachment; filename=a.html; filename*=UTF-8''%c3%a4.html",
    ],
    ['filename=";', 'attachment'],
  ] as const)
    it(`are never shown as a page of this server, with the vendor’s disposition ${disposition ?? 'missing'}`, async () => {
      const id = await uploaded(openai());
      const headers = {
        'content-type': 'text/html',
        ...(disposition === undefined ? {} : { 'content-disposition': disposition }),
      };
      gateway.simulator.enqueue({ raw: '<script>alert(1)</script>', headers });
      const response = await gateway.request(`/v1/files/${id}/content`);
      expect(await response.text()).to.equal('<script>alert(1)</script>');
      expect(Object.fromEntries(response.headers)).to.include({
        'content-type': 'text/html',
        'content-disposition': sent,
        'content-security-policy': "default-src 'none'; frame-ancestors 'none'; sandbox",
        'x-content-type-options': 'nosniff',
      });
    });

  it('are described by the vendor’s JSON, which is never shown as a page either', async () => {
    const id = await uploaded(openai());
    for (const path of ['/v1/files', `/v1/files/${id}`]) {
      const { headers } = await gateway.request(path);
      expect(headers.get('content-disposition'), path).to.equal('attachment');
    }
  });

  it('end at the vendor when the client leaves during an upload or a download', async () => {
    let seen = 0;
    const arrived = new Promise<void>((resolve) => {
      gateway.server.on('request', () => {
        seen += 1;
        resolve();
      });
    });
    const sent = httpRequest(`${gateway.url}/v1/files`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${TOKENS.ann}`,
        'content-type': 'multipart/form-data; boundary=b',
        'content-length': 1_000_000,
      },
    });
    sent.on('error', () => undefined);
    sent.write(Buffer.alloc(100_000));
    await arrived;
    sent.destroy();
    const id = await uploaded(openai());
    expect(seen).to.equal(2);
    expect(gateway.simulator.requests.filter(({ method }) => method === 'POST')).to.have.length(1);

    gateway.simulator.enqueue({ raw: 'x'.repeat(200_000), fault: { kind: 'stall', after: { bytes: 100_000 } } });
    const controller = new AbortController();
    const aborted = gateway.simulator.nextAbort();
    const response = await gateway.request(`/v1/files/${id}/content`, undefined, { signal: controller.signal });
    const { value } = await response.body!.getReader().read();
    expect(value?.length).to.be.greaterThan(0);
    controller.abort();
    expect((await aborted).path).to.include(`/files/${id}/content`);
  });

  it('are cut off for the client when the vendor breaks off', async () => {
    const id = await uploaded(openai());
    gateway.simulator.enqueue({ raw: 'x'.repeat(200_000), fault: { kind: 'reset', after: { bytes: 100_000 } } });
    const response = await gateway.request(`/v1/files/${id}/content`);
    expect(response.status).to.equal(200);
    expect(await response.arrayBuffer().catch(() => 'cut off')).to.equal('cut off');
  });

  it('arrive unchanged in both directions, with their length announced', async () => {
    const large = Buffer.alloc(2 * 1024 * 1024, BYTES);
    const { id } = await openai().files.create({ file: await toFile(large, 'large.bin'), purpose: 'user_data' });
    const response = await openai().files.content(id);
    const received = createHash('sha256')
      .update(Buffer.from(await response.arrayBuffer()))
      .digest('hex');
    expect(received).to.equal(createHash('sha256').update(large).digest('hex'));
    const upload = gateway.simulator.requests.find(({ method }) => method === 'POST');
    expect(Number(upload?.headers['content-length'])).to.be.greaterThan(large.length);
  });

  it('belong to the provider by which they were created, with several of one vendor', async () => {
    const own = await startGateway({
      providers: (simulator) => [
        { ...simulatedRow(simulator, 'openai'), id: 'first' },
        { ...simulatedRow(simulator, 'azure_openai'), id: 'second' },
      ],
    });
    try {
      const client = new OpenAI({ apiKey: TOKENS.ann, baseURL: `${own.url}/v1`, maxRetries: 0 });
      const query = { query: { provider: 'second' } };
      const file = await client.files.create({ file: await toFile(BYTES, 'x'), purpose: 'user_data' }, query);
      expect((await client.files.retrieve(file.id)).id).to.equal(file.id);
      expect((await client.files.list()).data).to.deep.equal([]);
      expect((await client.files.list({}, query)).data).to.have.length(1);
      const vendors = own.simulator.requests.map(({ vendor }) => vendor);
      expect(vendors).to.deep.equal(['azure_openai', 'azure_openai', 'openai', 'azure_openai']);
    } finally {
      await own.close();
    }
  });
});
