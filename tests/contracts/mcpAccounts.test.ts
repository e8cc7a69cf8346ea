/** Signing in at MCP servers that admins have added, through the browser: whose account each call is made with. */
import { expect } from 'chai';
import type { InputRequest } from '../../imports/business/ai/domain/entities/Tool';
import type { InputAnswer, ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import type { McpServerDetail } from '../../imports/business/mcp/domain/McpViews';
import { DocumentMcpAccounts } from '../../imports/business/mcp/infrastructure/DocumentMcpAccounts';
import { MCP_ACCOUNTS } from '../../imports/business/mcp/infrastructure/DocumentMcpAccounts';
import { KeyRing } from '../../imports/business/providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../../imports/business/providers/infrastructure/sealing/SealingService';
import { describeInSoak } from '../support/soak';
import { QUICK_DATABASES } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { actorOf, ADA, ADMIN, BOB, FilledHost } from '../support/FilledHost';
import { serveProtected } from '../support/mcp/serveProtected';
import type { ProtectedServer } from '../support/mcp/serveProtected';
import { newKey } from '../support/oauth/ProvidersHost';
import { sharedDatabase } from '../support/sharedDatabase';
import { until } from '../support/until';

const contextOf = (userId: string): ToolCallContext => ({
  signal: new AbortController().signal,
  ...{ userId, callId: 'c', executionId: 'e', idempotencyKey: 'e:c' },
  progress: () => undefined,
});

for (const [database, open] of Object.entries(QUICK_DATABASES))
  describeInSoak(`accounts at MCP servers, stored in ${database}`, () => {
    const secretKeys = newKey('k1');
    let server: ProtectedServer;
    let test: FilledHost;
    beforeEach(async () => {
      server = await serveProtected();
      test = await FilledHost.start(open, { secretKeys });
    });
    afterEach(async () => {
      await test.stop();
      await server.close();
    });

    const save = (oauth: object = { accounts: 'user' }, more: object = {}): Promise<unknown> =>
      test.host.operations['ai.mcpServers.save'](actorOf(ADMIN), { name: 'docs', url: server.url, oauth, ...more });
    const get = (): Promise<McpServerDetail> =>
      test.host.operations['ai.mcpServers.get'](actorOf(ADMIN), { name: 'docs' });
    const call = async (userId: string): Promise<unknown> =>
      test.host.module.tools.execute('docs_ping', {}, contextOf(userId));
    const pathOf = (url: string): string => new URL(url).pathname + new URL(url).search;

    /** Begins a sign-in as a browser does. @returns where the authorization server is, and the browser's cookie */
    const begin = async (userId: string): Promise<{ readonly url: URL; readonly cookie: string }> => {
      const begun = await test.request(userId, 'POST', '/api/mcp-accounts/docs/sign-in', {});
      expect(begun.status, 'sign-in').to.equal(200);
      const { url } = (await begun.json()) as { readonly url: string };
      const { port } = new URL((await test.request(userId, 'GET', '/health')).url);
      const redirect = await fetch(`http://127.0.0.1:${port}${pathOf(url)}`, {
        headers: { 'x-user': encodeURIComponent(userId) },
        redirect: 'manual',
      });
      expect(redirect.status, await redirect.text()).to.equal(303);
      const [cookie = ''] = (redirect.headers.get('set-cookie') ?? '').split(';');
      return { url: new URL(redirect.headers.get('location') ?? ''), cookie };
    };
    // A browser that comes from another site sends no session.
    const finish = (params: URLSearchParams, cookie: string, userId?: string): Promise<Response> =>
      test.request(userId, 'GET', `/oauth/mcp-callback?${params.toString()}`, undefined, { cookie });
    const signIn = async (userId: string): Promise<void> => {
      const { url, cookie } = await begin(userId);
      const page = await finish(server.approve(url, encodeURIComponent(userId)), cookie);
      expect(page.status, await page.text()).to.equal(200);
    };
    const approveAll = async (): Promise<void> => {
      await until(async () => (await get()).tools.length > 0);
      const tools = (await get()).tools.map(({ tool, hash = '' }) => ({ tool, hash }));
      await test.host.operations['ai.mcpServers.approve'](actorOf(ADMIN), { name: 'docs', tools });
      await until(() => test.host.module.tools.get('docs_ping') !== undefined);
    };
    const accounts = () => test.opened.database.collection(MCP_ACCOUNTS).find({});

    it('are each user’s own: a call is made with the account of its user, and without one with none', async () => {
      await save();
      await signIn(ADMIN);
      await approveAll();
      // The admin's account lists the tools, and serves nobody else.
      expect(await failure(call(ADA)))
        .to.have.property('message')
        .that.includes('sign in');
      await signIn(ADA);
      await signIn(BOB);
      expect(await call(ADA)).to.equal(`token of ${encodeURIComponent(ADA)}`);
      expect(await call(BOB)).to.equal(`token of ${encodeURIComponent(BOB)}`);
      expect(await call(ADMIN)).to.equal(`token of ${ADMIN}`);
      const stored = JSON.stringify(await accounts());
      expect(stored).to.not.include('token of').and.not.include('refresh-');
      expect(server.exchanges.every((form) => form.get('resource') === server.url)).to.equal(true);
      expect(server.leaks).to.deep.equal([]);
      // No token of ours, or of another server, is passed through.
      expect(server.tokensSeen.every((token) => token.startsWith('token of '))).to.equal(true);
      const { accounts: shown } = await test.host.operations['ai.mcpAccounts.list'](actorOf(ADA));
      expect(shown).to.have.length(1);
      expect(shown[0]).to.include({ name: 'docs', accounts: 'user' }).and.have.property('signedInAt');
    });

    it('end with a sign-out, which revokes the tokens, and with the user’s data', async () => {
      await save();
      await signIn(ADMIN);
      await approveAll();
      await signIn(ADA);
      await signIn(BOB);
      await call(ADA);
      const signedOut = await test.request(ADA, 'DELETE', '/api/mcp-accounts/docs');
      expect(await signedOut.json()).to.deep.equal({ signedOut: true });
      expect([...server.revoked]).to.deep.equal([`token of ${encodeURIComponent(ADA)}`]);
      expect(await failure(call(ADA)))
        .to.have.property('message')
        .that.includes('sign in');
      expect(await call(BOB)).to.include('token of');
      const exported = [];
      for await (const line of test.host.exportUserData(BOB)) exported.push(line);
      expect(JSON.stringify(exported)).to.include('mcpAccounts').and.not.include('refresh-');
      await test.host.deleteUserData(BOB);
      expect(await failure(call(BOB)))
        .to.have.property('message')
        .that.includes('sign in');
      await test.host.operations['ai.mcpServers.remove'](actorOf(ADMIN), { name: 'docs' });
      expect(await accounts()).to.deep.equal([]);
    });

    it('are shared where an admin has said so, and are the admins’ then', async () => {
      await save({ accounts: 'shared' });
      expect((await test.request(ADA, 'POST', '/api/mcp-accounts/docs/sign-in', {})).status).to.equal(403);
      expect((await test.host.operations['ai.mcpAccounts.list'](actorOf(ADA))).accounts).to.deep.equal([]);
      await signIn(ADMIN);
      await approveAll();
      expect(await call(ADA)).to.equal(`token of ${ADMIN}`);
    });

    it('are not taken from another browser or user, twice, of another issuer, or from a changed server', async () => {
      await save();
      const { url, cookie } = await begin(ADA);
      const params = server.approve(url, 'ada');
      expect((await finish(params, 'bolide-oauth=' + 'x'.repeat(43))).status).to.equal(403);
      expect((await finish(params, cookie)).status, 'used up').to.equal(400);
      const second = await begin(ADA);
      expect((await finish(server.approve(second.url, 'ada'), second.cookie, BOB)).status).to.equal(403);
      const third = await begin(ADA);
      const mixedUp = server.approve(third.url, 'ada');
      mixedUp.set('iss', 'https://evil.example.com');
      expect((await finish(mixedUp, third.cookie)).status).to.equal(400);
      const forged = server.approve(third.url, 'eve');
      forged.set('state', 's'.repeat(43));
      expect((await finish(forged, third.cookie)).status).to.equal(400);
      const fourth = await begin(ADA);
      await save({ accounts: 'user' }, { prefix: 'd_' });
      expect((await finish(server.approve(fourth.url, 'ada'), fourth.cookie)).status).to.equal(409);
      expect(server.exchanges).to.deep.equal([]);
      expect(await accounts()).to.deep.equal([]);
    });

    it('do not go to another address or client of the server', async () => {
      await save();
      await signIn(ADA);
      const other = await serveProtected();
      await save({ accounts: 'user' }, { url: other.url });
      expect(await accounts()).to.deep.equal([]);
      await other.close();
      const client = { accounts: 'user', clientId: 'app', issuer: server.issuer };
      await save(client, { clientSecret: 'secret of the client' });
      expect(await get()).to.include({ hasClientSecret: true });
      expect(JSON.stringify(await get())).to.not.include('secret of the client');
      await save(client);
      expect(await get()).to.include({ hasClientSecret: true });
      await save({ ...client, issuer: 'https://evil.example.com' });
      expect(await get()).to.not.have.property('hasClientSecret');
    });

    it('have their tokens refreshed once, although several calls of several processes find them expired', async () => {
      await save();
      await signIn(ADMIN);
      await approveAll();
      await signIn(ADA);
      const used = String(await call(ADA));
      server.revoked.add(used);
      const there = await FilledHost.start(() => Promise.resolve({ ...test.opened, close: () => Promise.resolve() }), {
        secretKeys,
        simulator: test.simulator,
      });
      await until(() => there.host.module.tools.get('docs_ping') !== undefined);
      const inOther = async (): Promise<unknown> => there.host.module.tools.execute('docs_ping', {}, contextOf(ADA));
      const results = await Promise.all([call(ADA), call(ADA), inOther(), inOther()]);
      for (const result of results) expect(result).to.match(/^token of .*, refreshed \d+$/);
      const refreshes = server.exchanges.filter((form) => form.get('grant_type') === 'refresh_token');
      expect(refreshes).to.have.length(1);
      await there.stop();
    });

    it('are signed in to again when the refresh token is refused', async () => {
      await save();
      await signIn(ADMIN);
      await approveAll();
      await signIn(ADA);
      server.revoked.add(String(await call(ADA)));
      const sealer = new SealingService(KeyRing.parse(secretKeys));
      const store = new DocumentMcpAccounts(test.opened.database, sealer);
      const account = await store.find({ server: 'docs', userId: ADA });
      const content = account?.content?.replace(/refresh-\d+/, 'unknown') ?? '';
      await store.replaceContent({ server: 'docs', userId: ADA }, content, account?.revision ?? '');
      expect(await failure(call(ADA)))
        .to.have.property('message')
        .that.includes('sign in');
    });

    it('are signed in to again during a call for which the server demands wider scopes', async () => {
      await save();
      await signIn(ADMIN);
      await approveAll();
      await signIn(ADA);
      await call(ADA);
      server.requiredScope = 'files:write';
      const asked: Omit<InputRequest, 'id'>[] = [];
      const checkpoints: (string | undefined)[] = [];
      const waiting = (answer: () => Promise<InputAnswer>): Promise<unknown> =>
        Promise.resolve(
          test.host.module.tools.execute(
            'docs_ping',
            {},
            {
              ...contextOf(ADA),
              saveCheckpoint: (checkpoint) => Promise.resolve(void checkpoints.push(checkpoint)),
              requestInput: (request) => {
                asked.push(request);
                return answer();
              },
            },
          ),
        );
      const result = await waiting(async () => {
        // A user who goes on without signing in is asked again.
        if (asked.length > 1) await signIn(ADA);
        return { action: 'accept', values: {} };
      });
      expect(result).to.equal(`token of ${encodeURIComponent(ADA)}`);
      expect(asked).to.have.length(2);
      expect(asked[0]?.url).to.equal('http://localhost/#/mcp-servers/docs');
      expect(asked[0]?.message).to.include('"docs"').and.include('files:write');
      expect(checkpoints[0]).to.include('files:write');
      expect(server.authorizations.at(-1)?.get('scope')).to.equal('files:write');
      // What was demanded once is asked for together with what is demanded next.
      server.requiredScope = 'files:delete';
      expect(await failure(waiting(() => Promise.resolve({ action: 'decline', reason: 'Not now.' }))))
        .to.have.property('message')
        .that.includes('declined');
      const missing = async (): Promise<unknown> =>
        (await test.host.operations['ai.mcpAccounts.list'](actorOf(ADA))).accounts[0]?.missingScope;
      expect(await missing()).to.equal('files:delete');
      await signIn(ADA);
      expect(await missing()).to.equal(undefined);
      expect(server.authorizations.at(-1)?.get('scope')).to.equal('files:delete files:write');
      // The admin's sign-in has nothing to do with it.
      await signIn(ADMIN);
      expect(server.authorizations.at(-1)?.get('scope')).to.equal(null);
    });

    it('fail a call that lacks rights, where nobody can be asked, and say which', async () => {
      await save({ accounts: 'shared' });
      await signIn(ADMIN);
      await approveAll();
      server.requiredScope = 'files:write';
      expect(await failure(call(ADA)))
        .to.have.property('message')
        .that.matches(/files:write.*Sign in/);
      expect((await get()).health).to.include({ state: 'connected', failures: 0 });
      await signIn(ADMIN);
      expect(await call(ADA)).to.equal(`token of ${ADMIN}`);
      // One that always demands something else does not fill the account.
      for (let count = 0; count < 12; count += 1) {
        server.requiredScope = `${count}`.repeat(300);
        await failure(call(ADA));
      }
      await signIn(ADMIN);
      const asked = server.authorizations.at(-1)?.get('scope') ?? '';
      expect(asked.length).to.be.below(2_001);
      expect(asked.startsWith(server.requiredScope)).to.equal(true);
    });

    it('are those of a server of the settings, too, whose tools are offered in every process', async () => {
      await test.stop();
      const oauth = {
        accounts: 'user',
        clientId: 'app',
        clientSecret: 'secret of the app',
        issuer: server.issuer,
      } as const;
      const settings = { secretKeys, mcpServers: [{ name: 'docs', url: server.url, oauth }] };
      test = await FilledHost.start(open, settings);
      const there = await FilledHost.start(
        () =>
          Promise.resolve({
            ...test.opened,
            database: sharedDatabase(test.opened.database),
            close: () => Promise.resolve(),
          }),
        { ...settings, simulator: test.simulator },
      );
      const detail = await get();
      expect(detail).to.deep.include({ source: 'settings', hasClientSecret: true });
      expect(detail).to.have.nested.property('health.needsSignIn', true);
      expect(JSON.stringify(detail)).to.not.include('secret of the app');
      await signIn(ADMIN);
      for (const { module } of [test.host, there.host]) await until(() => module.tools.get('docs_ping') !== undefined);
      expect(await failure(call(ADA)))
        .to.have.property('message')
        .that.includes('sign in');
      await signIn(ADA);
      expect(server.authorizations.at(-1)?.get('client_id')).to.equal('app');
      expect(await call(ADA)).to.equal(`token of ${encodeURIComponent(ADA)}`);
      expect(await there.host.module.tools.execute('docs_ping', {}, contextOf(ADA))).to.include('token of');
      const { accounts: shown } = await test.host.operations['ai.mcpAccounts.list'](actorOf(ADA));
      expect(shown.map(({ name }) => name)).to.deep.equal(['docs']);
      await test.request(ADA, 'DELETE', '/api/mcp-accounts/docs');
      expect(await failure(call(ADA)))
        .to.have.property('message')
        .that.includes('sign in');
      await there.stop();
    });

    for (const [fields, path] of [
      [{ oauth: { accounts: 'everybody' } }, 'oauth.accounts'],
      [{ oauth: { accounts: 'user', clientId: 'app' } }, 'oauth.issuer'],
      [{ oauth: { accounts: 'user' }, clientSecret: 's' }, 'clientSecret'],
      [{ oauth: { accounts: 'user' }, headers: { Authorization: 'Bearer x' } }, 'headers.authorization'],
    ] as const)
      it(`are refused: ${JSON.stringify(fields)}`, async () => {
        const saved = test.host.operations['ai.mcpServers.save'](actorOf(ADMIN), {
          ...{ name: 'docs', url: server.url },
          ...fields,
        });
        expect(await failure(saved)).to.include({ path });
      });
  });
