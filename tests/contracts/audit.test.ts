/** The audit trail of a host: who did what, from where and with what outcome, and who may read it. */
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { stub } from 'sinon';
import { argumentsHash } from '../../imports/business/ai/application/services/shared/argumentsHash';
import type { AuditPage } from '../../imports/business/audit/domain/AuditStore';
import type { AuditEntry } from '../../imports/business/ai/domain/types/AuditEntries';
import { AUDIT, DocumentAuditStore } from '../../imports/business/audit/infrastructure/DocumentAuditStore';
import type { RunningServer } from '../../imports/host/node/startServer';
import { registry } from '../stubs/server/registry';
import { startMeteorApp } from '../support/meteorApp';
import { startStandalone } from '../support/startStandalone';
import { until } from '../support/until';
import { leaveWaitingRun } from '../support/waitingRun';

const ADMIN_TOKEN = 'the-token-of-the-local-admin';
const ROOT = { userId: 'local', isAdmin: true, source: 'http' } as const;
const SECRET = 'sk-9Fz0aQ7rT2xW5vB8nM1c';

interface Answer {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
  readonly headers: Headers;
}

describe('the audit trail', () => {
  let directory: string;
  let server: RunningServer;
  let bob: string;
  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-audit-'));
    server = await startStandalone({
      DATA_DIR: directory,
      BOLIDE_API_TOKEN: ADMIN_TOKEN,
      HTTP_FORWARDED_COUNT: '1',
      AI_ALLOW_PRIVATE_HOSTS: 'true',
    });
    bob = (await server.host.apiTokens.tokens.issue({ userId: 'bob', name: 'bob', scopes: ['generate', 'read'] }))
      .token;
  });
  after(async () => {
    await server.close();
    await rm(directory, { recursive: true });
  });

  const send = async (
    method: string,
    path: string,
    body?: object,
    headers: Readonly<Record<string, string>> = { authorization: `Bearer ${ADMIN_TOKEN}` },
  ): Promise<Answer> => {
    const response = await fetch(server.url + path, {
      method,
      headers: {
        'content-type': 'application/json',
        'user-agent': 'TestBrowser/1.0',
        'x-forwarded-for': '203.0.113.9, 198.51.100.7',
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? (JSON.parse(text) as Answer['body']) : { text },
    };
  };
  /** Newest first. */
  const entriesOf = async (filter: object = {}): Promise<readonly AuditEntry[]> =>
    (await server.host.operations['ai.audit.list'](ROOT, filter)).entries;
  const ofBob = { authorization: '' };
  const signIn = (token: string, forwardedFor = '198.51.100.7'): Promise<Answer> =>
    send('POST', '/api/session', { token }, { origin: server.url, 'x-forwarded-for': forwardedFor });

  it('says who did what from where, and nothing secret', async () => {
    const { body } = await send('POST', '/api/tokens', { name: 'For CI', scopes: ['read'], models: ['gpt-5-mini'] });
    const [created] = await entriesOf({ action: 'token.create' });
    const { tokens } = await server.host.operations['ai.tokens.list'](ROOT);
    expect(created).to.deep.equal({
      _id: created?._id,
      at: created?.at,
      userId: 'local',
      tokenId: created?.tokenId,
      via: 'http',
      action: 'token.create',
      subject: { kind: 'token', id: body['id'], ownerId: 'local' },
      changed: ['name', 'models'],
      details: { name: 'For CI', scopes: 'read' },
      address: '198.51.100.7',
      userAgent: 'TestBrowser/1.0',
      outcome: 'done',
    });
    expect(created?.tokenId, 'not the created one').to.be.a('string').and.not.to.equal(tokens[0]?._id);
    const provider = { providerId: 'mine', name: 'Mine', vendor: 'openai', auth: { kind: 'api_key' }, apiKey: SECRET };
    expect((await send('POST', '/api/providers', provider)).status).to.equal(201);
    await send('POST', '/api/providers/mine/api-key', { apiKey: `${SECRET}2` });
    await send('POST', '/api/providers/mine', { [SECRET]: 1 });
    // Where the id of a token belongs, people paste the token.
    await send('DELETE', `/api/tokens/${String(body['token'])}`);
    await send('POST', '/api/prompts', { name: `The prompt of ${SECRET}`, content: { input: 'x' } });
    const [changed, key, added] = await entriesOf({ kind: 'provider' });
    expect(added).to.deep.include({ changed: ['name', 'vendor', 'auth', 'apiKey'], details: { vendor: 'openai' } });
    expect([key?.action, key?.subject.id, key?.outcome]).to.deep.equal(['provider.set_key', 'mine', 'done']);
    expect([changed?.outcome, changed?.error]).to.deep.equal(['failed', 'invalid-request']);
    const stored = await readdir(directory, { recursive: true, withFileTypes: true });
    for (const file of stored.filter((each) => each.isFile() && each.name.includes(AUDIT))) {
      const text = await readFile(join(file.parentPath, file.name), 'latin1');
      for (const secret of [SECRET, ADMIN_TOKEN, String(body['token'])]) expect(text, file.name).not.to.contain(secret);
    }
  });

  it('records sign-ins and sign-outs, and of failed ones ten per address and hour', async () => {
    const { headers } = await signIn(ADMIN_TOKEN);
    const cookie = headers.get('set-cookie')?.split(';')[0] ?? '';
    const session = { cookie, origin: server.url };
    await send('POST', '/api/queue/pause', {}, session);
    await send('POST', '/api/queue/resume', {}, session);
    expect((await send('DELETE', '/api/session', undefined, session)).status).to.equal(204);
    const entries = (await entriesOf({ via: 'dashboard', outcome: 'done' })).toReversed();
    expect(entries.map(({ action, userId, address }) => [action, userId, address])).to.deep.equal([
      ['session.open', 'local', '198.51.100.7'],
      ['queue.pause', 'local', '198.51.100.7'],
      ['queue.resume', 'local', '198.51.100.7'],
      ['session.close', 'local', '198.51.100.7'],
    ]);
    for (let attempt = 0; attempt < 12; attempt += 1) expect((await signIn(`wrong-${attempt}`)).status).to.equal(401);
    await signIn('wrong', '192.0.2.1');
    await server.host.audit.settled();
    const failed = await entriesOf({ action: 'session.open', outcome: 'refused' });
    expect(failed.map(({ address }) => address)).to.deep.equal([
      '192.0.2.1',
      ...Array<string>(10).fill('198.51.100.7'),
    ]);
    expect(failed[1]?.details).to.deep.equal({ furtherAreNotRecorded: true });
    expect(failed[2]).to.not.have.property('details');
    expect(failed.every(({ userId, error }) => userId === '' && error === 'auth-failed')).to.equal(true);
  });

  it('records decisions about calls, whichever way they come, and what others do to a run', async () => {
    const { host } = server;
    host.module.tools.register({ name: 'charge', needsApproval: true, execute: () => 'done' });
    for (const executionId of ['run-1', 'run-2'])
      await leaveWaitingRun(host.module, {
        ...{ executionId, userId: 'bob', providerId: 'openai', tool: 'charge', arguments: {} },
        waitsFor: 'approval',
      });
    const decision = { callId: 'call', argumentsHash: argumentsHash('{}') };
    const byBob = { authorization: `Bearer ${bob}` };
    expect((await send('POST', '/api/runs/run-1/approve', decision, byBob)).status, 'without the scope').to.equal(403);
    expect((await send('POST', '/api/runs/run-1/approve', decision)).status).to.equal(200);
    await host.runs.methods['ai.runs.reject'](ROOT, { executionId: 'run-2', ...decision });
    await until(async () => (await host.module.runs.load('run-2'))?.run.endedAt !== undefined);
    const [rejected, approved] = await entriesOf({ kind: 'call' });
    expect(approved).to.deep.include({
      action: 'call.approve',
      userId: 'local',
      subject: { kind: 'call', id: 'run-1', ownerId: 'bob' },
      details: { callId: 'call' },
      outcome: 'done',
    });
    expect(rejected).to.deep.include({ action: 'call.reject', outcome: 'done' });
    const [lacking] = await entriesOf({ action: 'access.refuse' });
    expect(lacking).to.deep.include({
      userId: 'bob',
      subject: { kind: 'route', id: 'POST /api/runs/:executionId/approve' },
      details: { scope: 'approve' },
      outcome: 'refused',
    });
    const before = (await entriesOf()).length;
    await send('POST', '/api/runs/run-1/tags', { tags: ['mine'] }, byBob);
    expect(await entriesOf(), 'what is one’s own').to.have.length(before);
    await send('POST', '/api/runs/run-1/tags', { tags: ['theirs'] });
    expect((await entriesOf())[0]).to.deep.include({
      action: 'run.tag',
      subject: { kind: 'run', id: 'run-1', ownerId: 'bob' },
    });
  });

  it('shows users what they did themselves, and not whose it was', async () => {
    const byBob = { authorization: `Bearer ${bob}` };
    await server.host.operations['ai.prompts.save'](
      { userId: 'bob', source: 'http' },
      { name: 'B', content: { input: 'x' } },
    );
    await leaveWaitingRun(server.host.module, {
      ...{ executionId: 'hers', userId: 'eve', providerId: 'openai', tool: 'charge', arguments: {} },
      waitsFor: 'approval',
    });
    expect((await send('POST', '/api/runs/hers/cancel', {}, byBob)).status).to.equal(404);
    const { entries } = (await send('GET', '/api/audit', undefined, byBob)).body as unknown as AuditPage;
    expect(entries.map(({ userId }) => userId)).to.satisfy((ids: readonly string[]) => ids.every((id) => id === 'bob'));
    expect(entries.map(({ action }) => action)).to.include.members(['prompt.save', 'run.cancel', 'access.refuse']);
    expect(JSON.stringify(entries)).not.to.contain('"eve"');
    expect(JSON.stringify(await entriesOf({ action: 'run.cancel' }))).to.contain('"eve"');
    expect((await send('GET', '/api/audit?userId=local', undefined, byBob)).status).to.equal(403);
    expect((await send('GET', '/api/audit/export?userId=local', undefined, byBob)).status).to.equal(403);
    const file = String((await send('GET', '/api/audit/export', undefined, byBob)).body['text'])
      .trimEnd()
      .split('\n');
    const exported = file.map((line) => (JSON.parse(line) as AuditEntry)._id);
    expect(exported).to.include.members(entries.map(({ _id }) => _id));
    expect(file.every((line) => line.includes('"userId":"bob"') && !line.includes('"eve"'))).to.equal(true);
    expect((await send('GET', '/api/audit?search=eve', undefined, byBob)).body['total'], 'by the owner').to.equal(0);
    expect((await send('GET', '/api/audit', undefined, ofBob)).status).to.equal(401);
  });

  it('is filtered and paged', async () => {
    const page = async (query: string): Promise<AuditPage> =>
      (await send('GET', `/api/audit?${query}`)).body as unknown as AuditPage;
    const all = await page('limit=200');
    expect(all.total).to.equal(all.entries.length);
    const seen: AuditEntry[] = [];
    for (let next: string | undefined = ''; next !== undefined;) {
      const part: AuditPage = await page(`limit=3${next === '' ? '' : `&after=${next}`}`);
      seen.push(...part.entries);
      next = part.next;
    }
    expect(seen).to.deep.equal(all.entries);
    for (const [query, matches] of [
      ['action=queue.pause,queue.resume', ({ action }: AuditEntry) => action.startsWith('queue.')],
      ['outcome=refused', ({ outcome }: AuditEntry) => outcome === 'refused'],
      ['kind=session&via=dashboard', ({ subject }: AuditEntry) => subject.kind === 'session'],
      ['subjectId=run-1', ({ subject }: AuditEntry) => subject.id === 'run-1'],
      ['userId=bob', ({ userId }: AuditEntry) => userId === 'bob'],
      ['search=192.0.2', ({ address }: AuditEntry) => address === '192.0.2.1'],
      ['search=For%20CI', ({ details }: AuditEntry) => details?.['name'] === 'For CI'],
      [
        `from=${seen[4]?.at}&to=${seen[2]?.at}`,
        ({ at }: AuditEntry) => at >= (seen[4]?.at ?? 0) && at <= (seen[2]?.at ?? 0),
      ],
    ] as const) {
      const { entries, total } = await page(query);
      expect(entries, query).to.deep.equal(all.entries.filter(matches)).and.not.to.be.empty;
      expect(total, query).to.equal(entries.length);
    }
    const uncounted = await page('count=false&limit=2');
    expect(uncounted).to.have.all.keys('entries', 'next');
    expect(uncounted.entries).to.deep.equal(all.entries.slice(0, 2));
    for (const query of ['action=unknown', 'count=maybe', 'outcome=maybe', 'from=soon', 'color=red', 'limit=201'])
      expect((await send('GET', `/api/audit?${query}`)).status, query).to.equal(400);
  });

  it('keeps what cannot be recorded from being done, but for what withdraws something', async () => {
    const { id, token } = await server.host.apiTokens.tokens.issue({
      userId: 'local',
      name: 'Leaked',
      scopes: ['read'],
    });
    const count = async (): Promise<number> => (await server.host.operations['ai.tokens.list'](ROOT)).tokens.length;
    const before = await count();
    const insert = stub(DocumentAuditStore.prototype, 'insert').rejects(new Error('The disk is full.'));
    const log = stub(console, 'error');
    try {
      const refused = await send('POST', '/api/tokens', { name: 'Unseen', scopes: ['read'] });
      expect(refused.status).to.equal(503);
      expect(refused.body).to.have.nested.property('error.message').that.contains('Nothing was done');
      expect((await send('POST', '/api/queue/pause', {})).status).to.equal(503);
      expect((await signIn(ADMIN_TOKEN)).headers.get('set-cookie'), 'nobody signs in unnoticed').to.equal(null);
      expect(await count()).to.equal(before);
      expect(log.callCount).to.be.greaterThan(0);
      expect((await send('DELETE', `/api/tokens/${id}`)).status).to.equal(200);
      expect(await server.host.apiTokens.verify(token)).to.equal(undefined);
    } finally {
      insert.restore();
      log.restore();
    }
    expect((await server.host.operations['ai.queue.list'](ROOT)).paused).to.equal(undefined);
  });

  it('is exported completely as lines of JSON and as CSV, which is recorded', async () => {
    for (let count = 0; count < 250; count += 1)
      await server.host.audit.record(ROOT, { action: 'queue.pause', subject: { kind: 'queue' } });
    await server.host.audit.record(ROOT, {
      action: 'token.create',
      subject: { kind: 'token', id: '=HYPERLINK("http://evil.example")' },
    });
    const expected = await Promise.all([entriesOf({ order: 'asc', limit: 200 }), entriesOf({ limit: 200 })]);
    const { body, headers } = await send('GET', '/api/audit/export');
    expect(headers.get('content-disposition')).to.equal('attachment; filename="audit.ndjson"');
    expect(headers.get('cache-control')).to.equal('no-store');
    const lines = String(body['text'])
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line) as AuditEntry);
    const [exported] = lines.splice(-1);
    expect(exported).to.deep.include({ action: 'audit.export', details: { format: 'ndjson' }, outcome: 'begun' });
    expect(lines.slice(0, 200)).to.deep.equal(expected[0]);
    expect(lines.slice(-200).toReversed()).to.deep.equal(expected[1]);
    expect(new Set(lines.map(({ _id }) => _id)).size)
      .to.equal(lines.length)
      .and.to.be.greaterThan(260);
    const csv = await send('GET', '/api/audit/export?format=csv&action=token.create');
    expect(csv.headers.get('content-type')).to.contain('text/csv');
    const rows = String(csv.body['text']).split('\r\n');
    expect(rows[0]).to.match(/^id,at,userId,tokenId,via,action,/);
    expect(rows.at(-2), 'no formula').to.contain(`,"'=HYPERLINK(""http://evil.example"")",`);
    expect((await send('GET', '/api/audit/export?format=xml')).status).to.equal(400);
    expect((await send('HEAD', '/api/audit/export')).headers.get('content-type')).to.contain('ndjson');
    const [first] = await entriesOf({ action: 'audit.export' });
    expect(first, 'in the end').to.deep.include({ details: { format: 'csv' }, outcome: 'done' });
  });

  it('knows what the app’s own code deletes', async () => {
    await server.host.deleteUserData('bob');
    const [deleted, ...others] = await entriesOf({ action: 'user.delete_data' });
    expect(others).to.deep.equal([]);
    expect(deleted).to.deep.include({ userId: '', via: 'server', outcome: 'done' });
    expect(deleted?.subject.id).to.match(/^deleted-[\da-f]{16}$/);
    expect(JSON.stringify(await entriesOf({ limit: 200 }))).not.to.contain('bob');
  });
});

describe('a full audit trail', () => {
  it('removes the oldest of whoever does the most, with a warning, and keeps what others did', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-audit-'));
    const server = await startStandalone({ DATA_DIR: directory, AUDIT_MAX_ENTRIES: '20' });
    const warn = stub(console, 'warn');
    try {
      const prompt = (userId: string, name: string): Promise<unknown> =>
        server.host.operations['ai.prompts.save']({ userId, source: 'http' }, { name, content: { input: 'x' } });
      await prompt('bob', 'mine');
      for (let number = 0; number < 40; number += 1) await prompt('eve', `prompt ${number}`);
      const ofUser = async (userId: string): Promise<readonly AuditEntry[]> =>
        (await server.host.operations['ai.audit.list'](ROOT, { userId })).entries;
      expect((await ofUser('bob')).map(({ action }) => action)).to.deep.equal(['prompt.save']);
      expect(await ofUser('eve')).to.have.length(19);
      expect(warn.args.map(([message]) => String(message)).join()).to.contain('of the audit trail were removed');
    } finally {
      warn.restore();
      await server.close();
      await rm(directory, { recursive: true });
    }
  });
});

describe('the audit trail under Meteor', () => {
  it('has the address and the browser of a method’s caller', async () => {
    const app = await startMeteorApp();
    await app.call('ann', 'ai.queue.pause', {});
    const { entries } = (await app.call('ann', 'ai.audit.list', {})) as AuditPage;
    expect(entries[0]).to.deep.include({ userId: 'ann', via: 'method', action: 'queue.pause', address: '127.0.0.1' });
    await app.stop();
  });

  it('has who signed in to the app, failed to, and signed out, but not who connected again', async () => {
    const app = await startMeteorApp();
    const connection = { clientAddress: '203.0.113.9', httpHeaders: { 'user-agent': 'TestBrowser/1.0' } };
    const notify = async (name: keyof typeof registry.loginHooks, attempt: object): Promise<void> => {
      for (const hook of registry.loginHooks[name]) await hook({ connection, ...attempt });
    };
    const [ann, bob] = [{ user: { _id: 'ann' } }, { user: { _id: 'bob' } }];
    await notify('onLogin', { type: 'password', allowed: true, ...ann });
    await notify('onLogin', { type: 'resume', allowed: true, ...ann });
    await notify('onLoginFailure', { type: 'resume', allowed: false, error: new Error('You have been logged out.') });
    const password = { digest: 'the-digest-of-a-password', algorithm: 'sha-256' };
    for (let attempt = 0; attempt < 12; attempt += 1)
      await notify('onLoginFailure', { type: 'password', allowed: false, methodArguments: [{ password }], ...bob });
    await notify('onLogout', ann);
    await app.host.audit.settled();
    const { entries } = await app.host.operations['ai.audit.list'](ROOT, { order: 'asc' });
    const from = { address: '203.0.113.9', userAgent: 'TestBrowser/1.0', via: 'method' };
    expect(entries[0]).to.deep.include({ userId: 'ann', action: 'session.open', outcome: 'done', ...from });
    expect(entries[1]).to.deep.include({
      ...{ userId: '', action: 'session.open', outcome: 'refused', error: 'auth-failed', ...from },
      subject: { kind: 'session', ownerId: 'bob' },
    });
    expect(entries.at(-1)).to.deep.include({ userId: 'ann', action: 'session.close', outcome: 'done', ...from });
    expect(entries).to.have.length(12);
    expect(JSON.stringify(entries)).not.to.contain(password.digest);
    await app.host.close();
    expect(Object.values(registry.loginHooks).map(({ size }) => size)).to.deep.equal([0, 0, 0]);
    await app.stop();
  });
});
