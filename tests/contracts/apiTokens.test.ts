/** API tokens that users create over HTTP, on the plain-Node host and on the Meteor host. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { resetWebApp, WebApp } from 'meteor/webapp';
import { API_TOKENS } from '../../imports/api/auth/DocumentApiTokenStore';
import { startBolide } from '../../imports/startup/meteor/startBolide';
import type { MeteorHost } from '../../imports/startup/meteor/startBolide';
import type { RunningServer } from '../../imports/startup/node/startServer';
import { resetMeteor } from '../stubs/server/registry';
import { newKey } from '../support/oauth/ProvidersHost';
import { startStandalone } from '../support/startStandalone';
import { METEOR_PACKAGES } from '../support/meteorPackages';

type Answer = { readonly status: number; readonly body: { readonly [field: string]: unknown } };

async function call(url: string, token: string, method: string, path: string, body?: unknown): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const response = await fetch(url + path, {
    method,
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return { status: response.status, body: (await response.json()) as Answer['body'] };
}

describe('API tokens of the plain-Node host', () => {
  const LOCAL = 'the-local-token';
  let directory: string;
  let server: RunningServer;
  const start = (): Promise<RunningServer> => startStandalone({ DATA_DIR: directory, BOLIDE_API_TOKEN: LOCAL });
  const send = (token: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    call(server.url, token, method, path, body);
  const issue = async (fields: object): Promise<{ readonly id: string; readonly token: string }> => {
    const { status, body } = await send(LOCAL, 'POST', '/tokens', fields);
    expect(status, JSON.stringify(body)).to.equal(201);
    return body as never;
  };

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-tokens-'));
    server = await start();
  });
  after(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });

  it('are created by an admin, grant only their scopes, and survive a restart', async () => {
    const { token } = await issue({ name: 'reports', userId: 'bob', scopes: ['read'] });
    expect((await send(token, 'GET', '/v1/models')).status).to.equal(200);
    expect((await send(token, 'POST', '/v1/responses', { model: 'openai', input: 'Hello' })).status).to.equal(403);
    await server.close();
    server = await start();
    expect((await send(token, 'GET', '/v1/models')).status).to.equal(200);
  });

  it('are listed without their hash, and are rejected once revoked', async () => {
    const { id, token } = await issue({ name: 'short-lived', userId: 'cem' });
    const { body } = await send(LOCAL, 'GET', '/tokens?userId=cem');
    const [listed] = body['tokens'] as readonly { readonly createdAt: number; readonly usage: object }[];
    expect(body['tokens']).to.deep.equal([
      {
        _id: id,
        userId: 'cem',
        name: 'short-lived',
        scopes: ['generate', 'read'],
        createdAt: listed!.createdAt,
        createdBy: 'local',
        usage: listed!.usage,
      },
    ]);
    expect(listed!.usage).to.have.nested.property('day.used.calls', 0);
    expect((await send(LOCAL, 'DELETE', `/tokens/${id}`)).status, 'of the caller there is no such token').to.equal(404);
    expect((await send(LOCAL, 'DELETE', `/tokens/${id}?userId=cem`)).body).to.deep.equal({ deleted: true });
    expect((await send(token, 'GET', '/v1/models')).status).to.equal(401);
  });

  it('can’t create tokens themselves, unless they have the scope admin', async () => {
    const plain = await issue({ name: 'plain', userId: 'dan' });
    const admin = await issue({ name: 'admin', userId: 'eve', scopes: ['admin'] });
    for (const [method, path, body] of [
      ['POST', '/tokens', { name: 'more' }],
      ['GET', '/tokens', undefined],
      ['DELETE', `/tokens/${plain.id}`, undefined],
    ] as const) {
      expect((await send(plain.token, method, path, body)).status, `${method} ${path}`).to.equal(403);
    }
    expect((await send(admin.token, 'POST', '/tokens', { name: 'more' })).status).to.equal(201);
  });

  it('are validated when created', async () => {
    const wrong: readonly (readonly [unknown, string])[] = [
      [{}, 'name'],
      [{ name: '' }, 'name'],
      [{ name: 7 }, 'name'],
      [{ name: 'x', scopes: [] }, 'scopes'],
      [{ name: 'x', scopes: ['everything'] }, 'scopes'],
      [{ name: 'x', expiresAt: 1 }, 'expiresAt'],
      [{ name: 'x', userId: { $gt: '' } }, 'userId'],
      [{ name: 'x', token: 'mine' }, 'token'],
      [['x'], 'must be an object'],
    ];
    for (const [body, path] of wrong) {
      const answer = await send(LOCAL, 'POST', '/tokens', body);
      expect(answer.status, JSON.stringify(body)).to.equal(400);
      expect(JSON.stringify(answer.body)).to.include(path);
    }
    expect((await send('nobody', 'POST', '/tokens', { name: 'x' })).status).to.equal(401);
  });

  it('open the dashboard for their owner', async () => {
    const { token } = await issue({ name: 'browser', userId: 'fay' });
    const response = await fetch(`${server.url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', origin: server.url },
      body: JSON.stringify({ token }),
    });
    expect(response.status).to.equal(200);
    expect(await response.json()).to.include({ userId: 'fay', isAdmin: false });
  });
});

describe('API tokens of the Meteor host', () => {
  let host: MeteorHost;
  let url: string;
  const { settings } = Meteor;

  before(async () => {
    resetMeteor();
    resetWebApp();
    Meteor.settings = { public: {}, ai: { OPENAI_API_KEY: 'k', secrets: newKey('k1'), admins: ['ann'] } };
    host = await startBolide(METEOR_PACKAGES);
    await new Promise<void>((resolve) => WebApp.httpServer.listen(0, '127.0.0.1', resolve));
    url = `http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
    for (const _id of ['ann', 'bob']) {
      await Meteor.users.insertAsync({
        _id,
        services: {
          resume: { loginTokens: [{ hashedToken: Accounts._hashLoginToken(`${_id}-login`), when: new Date() }] },
        },
      });
    }
  });
  after(async () => {
    await host.close();
    resetMeteor();
    resetWebApp();
    Meteor.settings = settings;
  });

  it('are created by logged-in users, with scopes that they have', async () => {
    const { status, body } = await call(url, 'bob-login', 'POST', '/tokens', { name: 'mine' });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect((await call(url, String(body['token']), 'GET', '/v1/models')).status).to.equal(200);
    expect((await call(url, 'bob-login', 'POST', '/tokens', { name: 'mine', scopes: ['admin'] })).status).to.equal(403);
    expect((await call(url, 'bob-login', 'POST', '/tokens', { name: 'hers', userId: 'ann' })).status).to.equal(403);
  });

  it('grant no more than their owner may do now, and nothing once the owner is deleted', async () => {
    const { body } = await call(url, 'ann-login', 'POST', '/tokens', {
      name: 'metrics',
      scopes: ['admin'],
      userId: 'bob',
    });
    const token = String(body['token']);
    expect((await call(url, token, 'GET', '/metrics')).status, 'bob is no admin').to.equal(403);
    await Meteor.users.removeAsync('bob');
    expect((await call(url, token, 'GET', '/v1/models')).status).to.equal(401);
  });

  it('are created for users who exist only', async () => {
    const { status, body } = await call(url, 'ann-login', 'POST', '/tokens', { name: 'x', userId: 'cat' });
    expect(status).to.equal(404);
    expect(body['error']).to.include({ message: 'There is no user "cat".', path: 'userId' });
    expect((await call(url, 'ann-login', 'GET', '/tokens?userId=cat')).body).to.deep.equal({ tokens: [] });
  });

  it('are stored as hashes', async () => {
    const { body } = await call(url, 'ann-login', 'POST', '/tokens', { name: 'stored' });
    const stored = JSON.stringify(await host.database.published(API_TOKENS).find({}).fetchAsync());
    expect(stored).to.include('"name":"stored"').and.not.include(String(body['token']));
  });
});
