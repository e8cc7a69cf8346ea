/** Stored responses of the plain-Node host, before and after a restart. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { RunningServer } from '../../imports/host/node/startServer';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { startStandalone } from '../support/startStandalone';

interface Resource {
  readonly id: string;
  readonly status: string;
  readonly error?: { readonly message: string };
  readonly output: readonly unknown[];
}

describe('responses after a restart', () => {
  const TOKEN = 'the-token-of-the-local-user';
  let directory: string;
  let server: RunningServer;
  const start = (): Promise<RunningServer> => startStandalone({ DATA_DIR: directory, BOLIDE_API_TOKEN: TOKEN });
  const send = (method: string, path: string, body?: object): Promise<Response> =>
    fetch(server.url + path, {
      method,
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const resource = async (method: string, path: string, body?: object): Promise<Resource> => {
    const response = await send(method, path, body);
    const text = await response.text();
    expect(response.status, text).to.equal(200);
    return JSON.parse(text) as Resource;
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-responses-'));
    server = await start();
  });
  after(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });

  it('can be read, continued and deleted', async () => {
    const first = await resource('POST', '/v1/responses', { model: 'anthropic', input: 'Remember the word kestrel.' });
    await server.close();
    server = await start();
    expect(await resource('GET', `/v1/responses/${first.id}`)).to.deep.equal(first);
    const second = await resource('POST', '/v1/responses', {
      model: 'anthropic',
      input: 'Go on.',
      previous_response_id: first.id,
    });
    expect(second.status).to.equal('completed');
    await resource('DELETE', `/v1/responses/${first.id}`);
    expect((await send('GET', `/v1/responses/${first.id}`)).status).to.equal(404);
    expect(
      (await send('POST', '/v1/responses', { model: 'anthropic', input: 'Go on.', previous_response_id: first.id }))
        .status,
    ).to.equal(400);
  });
});

for (const kind of ['its own files', 'MongoDB'] as const) {
  describe(`responses in progress when their process died, with ${kind}`, () => {
    const TOKEN = 'the-token-of-the-local-user';
    let mongo: TestMongo | undefined;
    let directory: string;
    let server: RunningServer;
    const send = async (method: string, path: string, body?: object): Promise<Resource> => {
      const response = await fetch(server.url + path, {
        method,
        headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      expect(response.status, text).to.equal(200);
      return JSON.parse(text) as Resource;
    };

    before(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-responses-'));
      mongo = kind === 'MongoDB' ? await startTestMongo() : undefined;
      server = await startStandalone({
        DATA_DIR: directory,
        BOLIDE_API_TOKEN: TOKEN,
        ...(mongo === undefined ? {} : { MONGO_URL: mongo.url }),
      });
    });
    after(async () => {
      await server.close();
      await mongo?.stop();
      await rm(directory, { recursive: true });
    });

    it('fail once no process can be producing them: at once on an exclusive database, else after an hour', async () => {
      const { responses } = server.host.module;
      const created = await send('POST', '/v1/responses', { model: 'anthropic', input: 'Hello' });
      const stored = (await responses.find('local', created.id))!;
      for (const [id, age] of [
        ['resp_lately', 60_000],
        ['resp_long_ago', 2 * 3_600_000],
      ] as const) {
        const changed = { id, status: 'in_progress', created_at: Math.floor((Date.now() - age) / 1_000) } as const;
        await responses.save({
          ...stored,
          id,
          response: { ...stored.response, ...changed },
          body: { ...stored.body, ...changed },
        });
      }
      expect((await send('GET', '/v1/responses/resp_lately')).status).to.equal(
        mongo === undefined ? 'failed' : 'in_progress',
      );
      const lost = await send('GET', '/v1/responses/resp_long_ago');
      expect(lost.status).to.equal('failed');
      expect(lost.error?.message).to.include('server stopped');
    });

    it('are never treated as lost while this process produces them', async () => {
      const queued = await send('POST', '/v1/responses', { model: 'anthropic', input: 'Hello', background: true });
      const seen = new Set<string>([queued.status]);
      while (!seen.has('completed')) {
        seen.add((await send('GET', `/v1/responses/${queued.id}`)).status);
        expect([...seen]).not.to.include('failed');
      }
    });
  });
}
