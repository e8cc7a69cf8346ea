/** API tokens that users create over HTTP, on the plain-Node host and on the Meteor host. */
import { mkdtemp, rm } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { resetWebApp, WebApp } from 'meteor/webapp';
import sinon from 'sinon';
import type { ApiTokenUsage } from '../../imports/api/tokens/TokenAdministration';
import type { UsageReport } from '../../imports/business/usage/domain/UsageReports';
import { API_TOKENS } from '../../imports/api/auth/DocumentApiTokenStore';
import { SqliteCollection } from '../../imports/database/sqlite/SqliteCollection';
import { startBolide } from '../../imports/host/meteor/startBolide';
import type { MeteorHost } from '../../imports/host/meteor/startBolide';
import type { RunningServer } from '../../imports/host/node/startServer';
import { resetMeteor } from '../stubs/server/registry';
import { newKey } from '../support/oauth/ProvidersHost';
import { startStandalone } from '../support/startStandalone';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';

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
  const LOCAL = 'the-token-of-the-local-user';
  let directory: string;
  let server: RunningServer;
  const start = (): Promise<RunningServer> => startStandalone({ DATA_DIR: directory, BOLIDE_API_TOKEN: LOCAL });
  const send = (token: string, method: string, path: string, body?: unknown): Promise<Answer> =>
    call(server.url, token, method, path, body);
  const issue = async (fields: object): Promise<{ readonly id: string; readonly token: string }> => {
    const { status, body } = await send(LOCAL, 'POST', '/api/tokens', fields);
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
    const { body } = await send(LOCAL, 'GET', '/api/tokens?userId=cem');
    const [listed] = body['tokens'] as readonly {
      readonly createdAt: number;
      readonly expiresAt: number;
      readonly usage: object;
    }[];
    expect(body['tokens']).to.deep.equal([
      {
        _id: id,
        userId: 'cem',
        name: 'short-lived',
        scopes: ['generate', 'read'],
        createdAt: listed!.createdAt,
        expiresAt: listed!.expiresAt,
        createdBy: 'local',
        usage: listed!.usage,
      },
    ]);
    expect(listed!.usage).to.have.nested.property('day.used.calls', 0);
    expect((await send(LOCAL, 'DELETE', `/api/tokens/${id}`)).status, 'of the caller there is no such token').to.equal(
      404,
    );
    expect((await send(LOCAL, 'DELETE', `/api/tokens/${id}?userId=cem`)).body).to.deep.equal({ deleted: true });
    expect((await send(token, 'GET', '/v1/models')).status).to.equal(401);
  });

  it('are read once while none changes, and not used after a change', async () => {
    const { id, token } = await issue({ name: 'busy', userId: 'kim', scopes: ['read'] });
    const statuses = async (count: number): Promise<readonly number[]> => {
      const answers: number[] = [];
      for (let at = 0; at < count; at += 1) answers.push((await send(token, 'GET', '/v1/models')).status);
      return answers;
    };
    // The first use is noted.
    await statuses(2);
    const reads = sinon.spy(SqliteCollection.prototype, 'findOne');
    try {
      expect(await statuses(3)).to.deep.equal([200, 200, 200]);
      expect(reads.args.filter(([{ _id }]) => _id === id)).to.have.length.at.most(1);
      expect((await send(LOCAL, 'DELETE', `/api/tokens/${id}?userId=kim`)).status).to.equal(200);
      expect(await statuses(2)).to.deep.equal([401, 401]);
    } finally {
      reads.restore();
    }
  });

  it('use the tools that they list, and no others', async () => {
    const search = { model: 'openai', input: 'Hi', tools: [{ type: 'web_search' }] };
    const ask = async (tools?: readonly string[]): Promise<Answer> => {
      const { token } = await issue({ name: 'tools', ...(tools === undefined ? {} : { tools }) });
      return send(token, 'POST', '/v1/responses', search);
    };
    const refused = await ask([]);
    expect(refused.status).to.equal(403);
    expect(refused.body['error']).to.include({ message: 'Your API token may not use the tool "hosted:web_search".' });
    expect((await ask(['hosted:web_search'])).status).to.equal(200);
    expect((await ask(['web_search'])).status, 'a tool of the server').to.equal(403);
    expect((await ask()).status).to.equal(200);
  });

  it('expire in 90 days unless their creator says otherwise', async () => {
    const DAY = 86_400_000;
    const list = async (): Promise<Readonly<Record<string, unknown>>> =>
      (await send(LOCAL, 'GET', '/api/tokens?userId=eve')).body;
    const daysOf = async (id: string): Promise<number | undefined> => {
      const tokens = (await list())['tokens'] as readonly { _id: string; createdAt: number; expiresAt?: number }[];
      const { createdAt, expiresAt } = tokens.find(({ _id }) => _id === id)!;
      return expiresAt === undefined ? undefined : Math.round((expiresAt - createdAt) / DAY);
    };
    const { id } = await issue({ name: 'by default', userId: 'eve' });
    expect(await daysOf(id)).to.equal(90);
    const never = await issue({ name: 'forever', userId: 'eve', expiresAt: 'never' });
    expect(await daysOf(never.id)).to.equal(undefined);
    const week = await issue({ name: 'a week', userId: 'eve', expiresAt: Date.now() + 7 * DAY });
    expect(await daysOf(week.id)).to.equal(7);
    const change = (expiresAt: unknown): Promise<Answer> =>
      send(LOCAL, 'POST', `/api/tokens/${id}`, { userId: 'eve', expiresAt });
    expect((await change('never')).status).to.equal(200);
    expect(await daysOf(id)).to.equal(undefined);
    expect((await change('tomorrow')).status).to.equal(400);
    expect(await list()).to.have.property('defaultLifetime', 90 * DAY);
    const rotated = await send(LOCAL, 'POST', `/api/tokens/${week.id}/rotate`, { userId: 'eve' });
    expect(rotated.status).to.equal(200);
    expect(await daysOf(week.id)).to.equal(7);
  });

  it('expire as the host is set up', async () => {
    const other = await startStandalone({ BOLIDE_API_TOKEN: LOCAL, API_TOKEN_DAYS: 'never' });
    try {
      const { status } = await call(other.url, LOCAL, 'POST', '/api/tokens', { name: 'forever' });
      expect(status).to.equal(201);
      const { body } = await call(other.url, LOCAL, 'GET', '/api/tokens');
      expect(body).to.have.property('defaultLifetime', 'never');
      expect(body).to.have.nested.property('tokens[0].name', 'forever');
      expect(body).to.not.have.nested.property('tokens[0].expiresAt');
    } finally {
      await other.close();
    }
  });

  it('are rotated: the new secret has the same id, the old one is valid for the grace period', async () => {
    const { id, token } = await issue({ name: 'rotated', userId: 'gus', models: ['openai/*'] });
    const rotate = async (fields: object): Promise<string> => {
      const { status, body } = await send(LOCAL, 'POST', `/api/tokens/${id}/rotate`, { userId: 'gus', ...fields });
      expect(status, JSON.stringify(body)).to.equal(200);
      expect(body['id']).to.equal(id);
      return String(body['token']);
    };
    const statusOf = async (secret: string): Promise<number> => (await send(secret, 'GET', '/v1/models')).status;
    const second = await rotate({ graceSeconds: 3_600 });
    expect([await statusOf(token), await statusOf(second)]).to.deep.equal([200, 200]);
    const { body } = await send(LOCAL, 'GET', '/api/tokens?userId=gus');
    const [listed] = body['tokens'] as readonly Readonly<Record<string, unknown>>[];
    expect(listed).to.deep.include({ _id: id, models: ['openai/*'] });
    expect(listed)
      .to.have.property('previousExpiresAt')
      .that.is.above(Date.now() + 3_500_000);
    expect(JSON.stringify(listed)).not.to.match(/hash|prefix/);
    const third = await rotate({});
    expect([await statusOf(token), await statusOf(second), await statusOf(third)]).to.deep.equal([401, 401, 200]);
    await server.close();
    server = await start();
    expect([await statusOf(second), await statusOf(third)]).to.deep.equal([401, 200]);
    expect((await send(LOCAL, 'POST', `/api/tokens/${id}/rotate`, {})).status, 'not the caller’s').to.equal(404);
    expect((await send(third, 'POST', `/api/tokens/${id}/rotate`, {})).status).to.equal(403);
  });

  it('have limits that can be changed and removed', async () => {
    const fields = {
      team: 'red',
      tags: ['build', 'build'],
      models: ['openai/*'],
      budgets: { day: { calls: 5 }, month: {} },
      rateLimits: { parallel: 2 },
    };
    const { id } = await issue({ name: 'limited', ...fields });
    const update = (change: object): Promise<Answer> => send(LOCAL, 'POST', `/api/tokens/${id}`, change);
    const { status, body } = await update({ name: 'renamed' });
    expect(status).to.equal(200);
    expect(body).to.deep.include({
      _id: id,
      name: 'renamed',
      team: 'red',
      tags: ['build'],
      models: ['openai/*'],
      budgets: { day: { calls: 5 } },
      rateLimits: { parallel: 2 },
    });
    const removed = await update({ team: null, tags: null, models: null, budgets: {}, rateLimits: null });
    for (const name of Object.keys(fields)) expect(removed.body).not.to.have.property(name);
    for (const [change, path] of [
      [{}, 'must have at least one of'],
      [{ name: null }, 'name'],
      [{ models: [] }, 'models'],
      [{ models: [7] }, 'models[0]'],
      [{ budgets: { year: {} } }, 'budgets.year'],
      [{ rateLimits: { parallel: 0 } }, 'rateLimits.parallel'],
      [{ rateLimits: { perHour: 1 } }, 'rateLimits.perHour'],
      [{ expiresAt: 1 }, 'expiresAt'],
      [{ scopes: ['admin'] }, 'scopes'],
    ] as const) {
      const answer = await update(change);
      expect(answer.status, JSON.stringify(change)).to.equal(400);
      expect(JSON.stringify(answer.body)).to.include(path);
    }
  });

  it('report what they have used: the sum of the request log, by day and model', async () => {
    const { id, token } = await issue({ name: 'spender', scopes: ['generate', 'read'], team: 'blue' });
    for (const model of ['openai/gpt-5-mini', 'openai/gpt-5-mini', 'anthropic/claude-sonnet-4-5'])
      expect((await send(token, 'POST', '/v1/responses', { model, input: 'Hello' })).status).to.equal(200);
    expect((await send(token, 'POST', '/v1/responses', { model: 'no-such-model', input: 'Hello' })).status).to.equal(
      404,
    );
    await server.host.requestLog.flush();
    const { body } = await send(LOCAL, 'GET', `/api/requests?tokenId=${id}`);
    const entries = body['requests'] as readonly {
      readonly cost?: number;
      readonly usage: { readonly input_tokens: number; readonly output_tokens: number };
      readonly team?: string;
    }[];
    expect(entries).to.have.length(4);
    for (const { team } of entries) expect(team).to.equal('blue');
    const sum = (read: (entry: (typeof entries)[number]) => number): number =>
      entries.reduce((total, entry) => total + read(entry), 0);
    const used = await send(token, 'GET', `/api/tokens/${id}/usage`);
    expect(used.status, JSON.stringify(used.body)).to.equal(200);
    const { token: described, report } = used.body as unknown as ApiTokenUsage;
    const { total } = report.all;
    expect(total).to.include({ requests: 4, errors: 1 });
    expect(total.tokens).to.include({
      input: sum(({ usage }) => usage.input_tokens),
      output: sum(({ usage }) => usage.output_tokens),
    });
    expect(total.cost).to.be.closeTo(
      sum(({ cost = 0 }) => cost),
      1e-12,
    );
    expect(described.usage.month.used.calls).to.equal(3);
    expect(described.usage.month.used.money).to.be.closeTo(total.cost ?? 0, 1e-12);
    expect(
      report.groups.map(({ name, total: { requests } }) => [name?.split('-')[0], requests]),
    ).to.deep.include.members([
      ['gpt', 2],
      ['claude', 1],
    ]);
    const period = `from=${Date.now() - 3_600_000}&to=${Date.now() + 1_000}&interval=day`;
    const byToken = (await send(LOCAL, 'GET', `/api/usage?${period}&groupBy=token`)).body as unknown as UsageReport;
    expect(byToken.groups.find(({ name }) => name === id)).to.deep.include({ label: 'spender' });
    const byTeam = (await send(LOCAL, 'GET', `/api/usage?${period}&groupBy=team`)).body as unknown as UsageReport;
    expect(byTeam.groups.find(({ name }) => name === 'blue')?.total.requests).to.equal(4);
    const other = await issue({ name: 'other', userId: 'hal' });
    expect((await send(other.token, 'GET', `/api/tokens/${id}/usage`)).status).to.equal(403);
    expect((await send(other.token, 'GET', `/api/tokens/${other.id}/usage`)).status).to.equal(200);
  });

  it('share the budget of their team, which admins set', async () => {
    const set = (limits: object): Promise<Answer> => send(LOCAL, 'POST', '/api/budgets/teams/green', { limits });
    expect((await set({ day: { calls: 1 } })).body).to.deep.include({ limits: { day: { calls: 1 } } });
    const tokens = [await issue({ name: 'one', team: 'green' }), await issue({ name: 'two', team: 'green' })];
    const ask = async ({ token }: { readonly token: string }): Promise<number> =>
      (await send(token, 'POST', '/v1/responses', { model: 'openai', input: 'Hello' })).status;
    expect([await ask(tokens[0]!), await ask(tokens[1]!)]).to.deep.equal([200, 402]);
    const { body } = await send(LOCAL, 'GET', '/api/budgets');
    const teams = body['teams'] as readonly { readonly team: string; readonly usage: { readonly day: object } }[];
    const green = teams.find(({ team }) => team === 'green');
    expect(green).to.deep.include({ limits: { day: { calls: 1 } } });
    expect(green?.usage.day).to.have.nested.property('used.calls', 1);
    const mixed = { team: 'green', userId: 'ann', limits: {} };
    expect((await send(LOCAL, 'POST', '/api/budgets', mixed)).status).to.equal(400);
    expect((await send(LOCAL, 'DELETE', '/api/budgets/teams/green')).status).to.equal(200);
    expect(await ask(tokens[1]!)).to.equal(200);
  });

  it('can’t create tokens themselves, unless they have the scope admin', async () => {
    const plain = await issue({ name: 'plain', userId: 'dan' });
    const admin = await issue({ name: 'admin', userId: 'eve', scopes: ['admin'] });
    for (const [method, path, body] of [
      ['POST', '/api/tokens', { name: 'more' }],
      ['GET', '/api/tokens', undefined],
      ['DELETE', `/api/tokens/${plain.id}`, undefined],
    ] as const) {
      expect((await send(plain.token, method, path, body)).status, `${method} ${path}`).to.equal(403);
    }
    expect((await send(admin.token, 'POST', '/api/tokens', { name: 'more' })).status).to.equal(201);
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
      const answer = await send(LOCAL, 'POST', '/api/tokens', body);
      expect(answer.status, JSON.stringify(body)).to.equal(400);
      expect(JSON.stringify(answer.body)).to.include(path);
    }
    expect((await send('nobody', 'POST', '/api/tokens', { name: 'x' })).status).to.equal(401);
  });

  it('open the dashboard for their owner', async () => {
    const { token } = await issue({ name: 'browser', userId: 'fay' });
    const response = await fetch(`${server.url}/api/session`, {
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
    host = await startBolide({ ...METEOR_PACKAGES, httpPath: '' });
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
    const { status, body } = await call(url, 'bob-login', 'POST', '/api/tokens', { name: 'mine' });
    expect(status, JSON.stringify(body)).to.equal(201);
    expect((await call(url, String(body['token']), 'GET', '/v1/models')).status).to.equal(200);
    expect((await call(url, 'bob-login', 'POST', '/api/tokens', { name: 'mine', scopes: ['admin'] })).status).to.equal(
      403,
    );
    expect((await call(url, 'bob-login', 'POST', '/api/tokens', { name: 'hers', userId: 'ann' })).status).to.equal(403);
  });

  it('grant no more than their owner may do now, and nothing once the owner is deleted', async () => {
    const { body } = await call(url, 'ann-login', 'POST', '/api/tokens', {
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
    const { status, body } = await call(url, 'ann-login', 'POST', '/api/tokens', { name: 'x', userId: 'cat' });
    expect(status).to.equal(404);
    expect(body['error']).to.include({ message: 'There is no user "cat".', path: 'userId' });
    expect((await call(url, 'ann-login', 'GET', '/api/tokens?userId=cat')).body).to.deep.equal({
      tokens: [],
      defaultLifetime: 90 * 86_400_000,
    });
  });

  it('are stored as hashes', async () => {
    const { body } = await call(url, 'ann-login', 'POST', '/api/tokens', { name: 'stored' });
    const stored = JSON.stringify(await host.database.published(API_TOKENS).find({}).fetchAsync());
    expect(stored).to.include('"name":"stored"').and.not.include(String(body['token']));
  });
});
