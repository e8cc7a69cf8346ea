/** Accounts are connected, used, refreshed, disconnected and connected again, on a real authorization server. */
import { expect } from 'chai';
import {
  LLMAuthError,
  LLMConnectionError,
  LLMPermissionError,
} from '../../imports/business/ai/domain/errors/LLMErrors';
import type { DATABASES } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { APP_CLIENT, TestAuthorizationServer, CLIENT } from '../support/oauth/TestAuthorizationServer';
import {
  atCallback,
  connectAs,
  createProvider,
  PROVIDER_ID,
  providerArgument,
} from '../support/oauth/connectedProvider';
import { CookieBrowser } from '../support/oauth/CookieBrowser';
import { ADMIN, ALICE, BOB, ProvidersHost } from '../support/oauth/ProvidersHost';

for (const database of [
  'embedded (SQLite)',
  'MongoDB over the wire',
] as const satisfies readonly (keyof typeof DATABASES)[]) {
  describe(`a connected account stored in ${database}`, () => {
    let app: ProvidersHost;
    let server: TestAuthorizationServer;
    before(async () => {
      app = await ProvidersHost.start({ database });
      server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
      await createProvider(app, server);
    });
    after(async () => {
      await app.stop();
      await server.stop();
    });

    const tokenOf = async (
      userId: string,
      more: { forceRefresh?: boolean; refusedToken?: string } = {},
    ): Promise<string> => {
      const credential = await app.module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId, ...more });
      expect(credential?.kind).to.equal('bearer');
      return credential?.token ?? '';
    };

    it('yields a token only for its user, and is shown as connected only to that user', async () => {
      const { page } = await connectAs(app, 'alice');
      expect(page.status, page.body).to.equal(200);
      expect(page.body).to.include('Your Acme account is connected');
      expect(await isLive(server, await tokenOf('alice'))).to.equal(true);
      const thrown = await failure(app.module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'bob' }));
      expect(thrown).to.be.instanceOf(LLMAuthError).with.property('message').that.includes('No account is connected');
      expect((await app.operations['ai.providers.list'](ALICE))[0]).to.include({
        connected: true,
        needsReconnect: false,
      });
      expect((await app.operations['ai.providers.list'](BOB))[0]).to.include({
        connected: false,
        needsReconnect: false,
      });
    });

    it('makes no request to the server while its token is valid', async () => {
      const before = server.tokenRequests.length;
      const [first, second] = [await tokenOf('alice'), await tokenOf('alice')];
      expect(second).to.equal(first);
      expect(server.tokenRequests).to.have.length(before);
    });

    it('refreshes a minute before its token expires, and stores the rotated refresh token', async () => {
      const before = await tokenOf('alice');
      await app.credentials.update({ userId: 'alice' }, { $set: { expiresAt: Date.now() + 59_000 } });
      const refreshed = await tokenOf('alice');
      expect(refreshed).not.to.equal(before);
      await app.expire(PROVIDER_ID, 'alice');
      const again = await tokenOf('alice');
      expect(again).not.to.equal(refreshed);
      expect(await isLive(server, again)).to.equal(true);
      const used = server.tokenRequests.slice(-2).map(({ parameters }) => parameters.get('refresh_token'));
      expect(new Set(used).size, 'each refresh token is shown once').to.equal(2);
    });

    it('refreshes once for a hundred callers', async () => {
      await app.expire(PROVIDER_ID, 'alice');
      const before = server.countGranted('refresh_token');
      const tokens = await Promise.all(Array.from({ length: 100 }, () => tokenOf('alice')));
      expect(new Set(tokens).size).to.equal(1);
      expect(server.countGranted('refresh_token') - before).to.equal(1);
    });

    it('refreshes after the vendor rejects a token, but only for callers that still have that token', async () => {
      const refused = await tokenOf('alice');
      const before = server.countGranted('refresh_token');
      const newer = await tokenOf('alice', { forceRefresh: true, refusedToken: refused });
      expect(newer).not.to.equal(refused);
      const late = await Promise.all(
        Array.from({ length: 20 }, () => tokenOf('alice', { forceRefresh: true, refusedToken: refused })),
      );
      expect(new Set(late)).to.deep.equal(new Set([newer]));
      expect(server.countGranted('refresh_token') - before).to.equal(1);
      expect(await tokenOf('alice', { forceRefresh: true }), 'without the refused token any newer one').not.to.equal(
        newer,
      );
    });

    it('stays connected if the server can’t be reached', async () => {
      await app.expire(PROVIDER_ID, 'alice');
      server.intercept = (request) => {
        if (request.url === '/token') request.socket.destroy();
        return request.url === '/token';
      };
      const thrown = await failure(tokenOf('alice'));
      server.intercept = () => false;
      expect(thrown).to.be.instanceOf(LLMConnectionError);
      expect((await app.operations['ai.providers.list'](ALICE))[0]).to.include({
        connected: true,
        needsReconnect: false,
      });
      expect(await isLive(server, await tokenOf('alice'))).to.equal(true);
    });

    it('uses the last minute of a token while the server can’t be reached', async () => {
      await app.credentials.update({ userId: 'alice' }, { $set: { expiresAt: Date.now() + 30_000 } });
      const before = server.countGranted('refresh_token');
      server.intercept = (request, response) => {
        if (request.url === '/token') response.writeHead(503).end('<h1>Later</h1>');
        return request.url === '/token';
      };
      const token = await tokenOf('alice');
      server.intercept = () => false;
      expect(await isLive(server, token)).to.equal(true);
      expect(server.countGranted('refresh_token')).to.equal(before);
    });

    it('requires every caller to reconnect once the grant is revoked', async () => {
      await app.expire(PROVIDER_ID, 'alice');
      dropRefreshTokens(server);
      for (let call = 0; call < 2; call++) {
        const thrown = await failure(tokenOf('alice'));
        expect(thrown).to.be.instanceOf(LLMAuthError).with.property('message').that.includes('reconnect required');
      }
      expect((await app.operations['ai.providers.list'](ALICE))[0]).to.include({
        connected: false,
        needsReconnect: true,
        reconnectReason: 'refused',
      });
      expect(server.tokenRequests.at(-1)?.status).to.equal(400);
      expect(app.log.filter(({ event }) => event === 'refresh:reconnect-required')).to.have.length(1);
    });

    it('works again after reconnecting', async () => {
      expect((await connectAs(app, 'alice')).page.status).to.equal(200);
      expect((await app.operations['ai.providers.list'](ALICE))[0]).to.include({
        connected: true,
        needsReconnect: false,
      });
      expect(await isLive(server, await tokenOf('alice'))).to.equal(true);
    });

    it('requires a reconnect after a used refresh token was sent again', async () => {
      const stolen = server.tokenRequests
        .findLast(({ parameters }) => parameters.get('grant_type') === 'refresh_token')
        ?.parameters.get('refresh_token');
      expect(stolen).to.be.a('string');
      await app.expire(PROVIDER_ID, 'alice');
      await tokenOf('alice');
      const used = server.tokenRequests.at(-1)?.parameters.get('refresh_token') ?? '';
      expect((await refreshAtServer(server, used)).status, 'the thief is refused').to.equal(400);
      await app.expire(PROVIDER_ID, 'alice');
      expect(await failure(tokenOf('alice')))
        .to.be.instanceOf(LLMAuthError)
        .with.property('message')
        .that.includes('reconnect required');
      await connectAs(app, 'alice');
    });

    it('is revoked at the server and deleted when its user disconnects', async () => {
      const token = await tokenOf('alice');
      const view = await app.operations['ai.providers.disconnect'](ALICE, { providerId: PROVIDER_ID });
      expect(view).to.include({ connected: false, needsReconnect: false });
      expect(await isLive(server, token)).to.equal(false);
      expect(await app.credentials.find({ userId: 'alice' })).to.deep.equal([]);
      expect(await failure(tokenOf('alice'))).to.be.instanceOf(LLMAuthError);
      await app.operations['ai.providers.disconnect'](ALICE, { providerId: PROVIDER_ID });
    });

    it('is deleted even if the server can’t be reached', async () => {
      await connectAs(app, 'alice');
      server.intercept = (request) => {
        if (request.url === '/token/revocation') request.socket.destroy();
        return request.url === '/token/revocation';
      };
      await app.operations['ai.providers.disconnect'](ALICE, { providerId: PROVIDER_ID });
      server.intercept = () => false;
      expect(await app.credentials.find({ userId: 'alice' })).to.deep.equal([]);
      expect(app.log.some(({ event }) => event === 'oauth:not-revoked')).to.equal(true);
    });

    it('is not restored by a refresh that was running when its user disconnected', async () => {
      await connectAs(app, 'alice');
      await app.expire(PROVIDER_ID, 'alice');
      let arrived = (): void => undefined;
      const held = new Promise<void>((resolve) => (arrived = resolve));
      let release = (): void => undefined;
      server.intercept = (request, _response, pass) => {
        if (request.url !== '/token') return false;
        release = pass;
        arrived();
        return true;
      };
      const refreshing = failure(tokenOf('alice'));
      await held;
      server.intercept = () => false;
      // Deletes the row without a revocation, as in the moment before another process sends one.
      await app.credentials.remove({ userId: 'alice' });
      release();
      expect(await refreshing)
        .to.be.instanceOf(LLMAuthError)
        .with.property('message')
        .that.includes('No account is connected');
      expect(await app.credentials.find({ userId: 'alice' })).to.deep.equal([]);
      expect(server.paths.at(-1), 'what the refresh brought is revoked').to.equal('/token/revocation');
    });

    /** Holds requests to the token endpoint until they are released. */
    const holdTokens = (): { readonly held: Promise<void>; readonly release: () => void } => {
      let arrived = (): void => undefined;
      const held = new Promise<void>((resolve) => (arrived = resolve));
      let pass = (): void => undefined;
      server.intercept = (request, _response, letPass) => {
        if (request.url !== '/token') return false;
        pass = letPass;
        arrived();
        return true;
      };
      return {
        held,
        release: () => {
          server.intercept = () => false;
          pass();
        },
      };
    };

    for (const [what, change, restore] of [
      [
        'removes',
        () => app.operations['ai.providers.remove'](ADMIN, { providerId: PROVIDER_ID }),
        () => createProvider(app, server),
      ],
      [
        'moves',
        () =>
          app.operations['ai.providers.update'](ADMIN, providerArgument(server, { baseURL: 'http://127.0.0.1:2/v1' })),
        () => app.operations['ai.providers.update'](ADMIN, providerArgument(server)),
      ],
    ] as const) {
      it(`is not created, and its tokens are revoked, if an administrator ${what} the provider while the code is exchanged`, async () => {
        await app.credentials.remove({ userId: 'alice' });
        const { browser, page } = await connectAs(app, 'alice', atCallback);
        const { held, release } = holdTokens();
        const completed = browser.open(page.url);
        await held;
        await change();
        release();
        const shown = await completed;
        expect([shown.status, shown.body.includes('The provider has changed')], shown.body).to.deep.equal([409, true]);
        expect(await app.credentials.find({ userId: 'alice' })).to.deep.equal([]);
        expect(server.paths.at(-1)).to.equal('/token/revocation');
        await restore();
        expect((await app.operations['ai.providers.list'](ALICE))[0]).to.include({
          connected: false,
          needsReconnect: false,
        });
      });
    }

    it('is revoked if an administrator removes its provider during a refresh', async () => {
      await connectAs(app, 'alice');
      await app.expire(PROVIDER_ID, 'alice');
      const { held, release } = holdTokens();
      const refreshing = failure(tokenOf('alice'));
      await held;
      // Deletes all rows without a revocation, as in the moment before another process sends one.
      await app.credentials.remove({});
      release();
      expect(await refreshing).to.be.instanceOf(LLMAuthError);
      expect(await app.credentials.find({})).to.deep.equal([]);
      expect(server.paths.at(-1)).to.equal('/token/revocation');
      expect(app.log.at(-1)?.event, 'the server knew whose request it was').not.to.equal('oauth:not-revoked');
      await app.operations['ai.providers.update'](ADMIN, providerArgument(server));
    });

    it('is removed with its provider, for all users', async () => {
      await connectAs(app, 'alice');
      await connectAs(app, 'bob');
      const tokens = [await tokenOf('alice'), await tokenOf('bob')];
      await app.operations['ai.providers.remove'](ADMIN, { providerId: PROVIDER_ID });
      expect(await app.credentials.find({})).to.deep.equal([]);
      for (const token of tokens) expect(await isLive(server, token)).to.equal(false);
      expect(await failure(tokenOf('alice'))).to.be.instanceOf(LLMPermissionError);
    });
  });
}

describe('starting and completing a connection', () => {
  let app: ProvidersHost;
  let server: TestAuthorizationServer;
  before(async () => {
    app = await ProvidersHost.start();
    server = await TestAuthorizationServer.start({
      redirectUris: [`${app.url}/oauth/callback`],
      resources: ['https://api.acme.example/'],
    });
    await createProvider(app, server);
  });
  after(async () => {
    await app.stop();
    await server.stop();
  });

  it('redirects a signed-in browser to the server, with PKCE, state, nonce and the configured redirect URI', async () => {
    const browser = new CookieBrowser({ 'x-test-user': 'alice', 'x-forwarded-host': 'evil.example' });
    let seen = '';
    await browser.open(`${app.url}/oauth/${PROVIDER_ID}/start`, (url) => {
      if (url.startsWith(server.url)) seen = url;
      return seen !== '';
    });
    const { searchParams } = new URL(seen);
    expect(searchParams.get('response_type')).to.equal('code');
    expect(searchParams.get('code_challenge_method')).to.equal('S256');
    expect(searchParams.get('code_challenge')).to.match(/^[\w-]{43}$/);
    expect(searchParams.get('state')).to.match(/^[\w-]{43}$/);
    expect(searchParams.get('nonce')).to.match(/^[\w-]{43}$/);
    expect(searchParams.get('redirect_uri')).to.equal(`${app.url}/oauth/callback`);
  });

  it('asks an anonymous browser with a ticket to confirm for which user it connects', async () => {
    const url = await app.operations['ai.providers.connect'](BOB, { providerId: PROVIDER_ID });
    const browser = new CookieBrowser();
    const confirmation = await browser.open(url);
    expect(confirmation.body).to.include('Connect Acme?').and.to.include('bob');
    const page = await browser.authorize(await browser.submit(confirmation, {}), 'bob@acme');
    expect(page.body).to.include('is connected');
    expect((await app.operations['ai.providers.list'](BOB))[0]).to.include({ connected: true });
    expect((await browser.open(url)).status, 'a ticket is good once').to.equal(400);
  });

  it('names the user by name, escaped and without characters that reorder text, and otherwise by id', async () => {
    const connect = (): Promise<string> => app.operations['ai.providers.connect'](BOB, { providerId: PROVIDER_ID });
    const messageOf = async (name?: string): Promise<string> => {
      app.users.set('bob', name === undefined ? BOB : { ...BOB, name });
      const { body } = await new CookieBrowser().open(await connect());
      return /to the user “(.*?)” of this app/.exec(body)?.[1] ?? body;
    };
    expect(await messageOf('bob@example.org')).to.equal('bob@example.org');
    expect(await messageOf('<b>Bob</b>\u202E"')).to.equal('&#60;b&#62;Bob&#60;/b&#62;&#34;');
    expect(await messageOf('x'.repeat(5_000))).to.equal(`${'x'.repeat(200)}…`);
    expect(await messageOf()).to.equal('bob');
  });

  it('returns the server’s URL to a caller that passes its browser’s binding', async () => {
    const binding = 'a-binding-of-the-dashboard-0123456789';
    const url = await app.operations['ai.providers.connect'](ALICE, { providerId: PROVIDER_ID, binding });
    expect(url.startsWith(server.url)).to.equal(true);
    const browser = new CookieBrowser();
    browser.setCookie(new URL(app.url).host, 'bolide-oauth', binding);
    expect((await browser.authorize(await browser.open(url), 'alice@acme')).body).to.include('is connected');
  });

  it('asks a browser without a ticket to sign in first', async () => {
    expect((await new CookieBrowser().open(`${app.url}/oauth/${PROVIDER_ID}/start`)).status).to.equal(401);
  });

  it('informs the user if they or the server declined', async () => {
    const browser = new CookieBrowser({ 'x-test-user': 'alice' });
    const login = await browser.open(`${app.url}/oauth/${PROVIDER_ID}/start`);
    const abort = /href="([^"]*abort)"/.exec(login.body)?.[1] ?? '';
    const page = await browser.open(new URL(abort, login.url).href);
    expect(page.status).to.equal(400);
    expect(page.body).to.include('access_denied').and.to.include('End-User aborted interaction');
  });

  it('sends the configured resource indicators to both endpoints', async () => {
    const resources = ['https://api.acme.example/'];
    await createProvider(
      app,
      server,
      { providerId: 'resourceful' },
      { scopes: ['openid', 'offline_access', 'llm'], resources },
    );
    const { page } = await connectAs(app, 'alice', undefined, 'resourceful');
    expect(page.status, page.body).to.equal(200);
    expect(
      server.paths.some(
        (path) => path.startsWith('/auth?') && new URLSearchParams(path.slice(6)).get('resource') === resources[0],
      ),
    ).to.equal(true);
    expect(server.tokenRequests.at(-1)?.parameters.getAll('resource')).to.deep.equal(resources);
    await app.expire('resourceful', 'alice');
    await app.module.credentials.getAccessToken({ providerId: 'resourceful', userId: 'alice' });
    expect(server.tokenRequests.at(-1)?.parameters.getAll('resource')).to.deep.equal(resources);
  });

  it('shares one token of app credentials among all users, refreshed once', async () => {
    const { clientId: _clientId, ...argument } = providerArgument(server, { providerId: 'shared' });
    const auth = {
      kind: 'oauth_app',
      issuer: server.url,
      clientId: APP_CLIENT.id,
      clientSecret: APP_CLIENT.secret,
      clientAuthentication: 'client_secret_post',
    };
    await app.operations['ai.providers.create'](ADMIN, { ...argument, auth });
    const getToken = async (userId: string): Promise<string | undefined> =>
      (await app.module.credentials.getAccessToken({ providerId: 'shared', userId }))?.token;
    const tokens = await Promise.all(
      Array.from({ length: 30 }, (_value, index) => getToken(index % 2 === 0 ? 'alice' : 'bob')),
    );
    expect(new Set(tokens).size).to.equal(1);
    expect(server.countGranted('client_credentials')).to.equal(1);
    await app.expire('shared', null);
    expect(await getToken('alice')).not.to.equal(tokens[0]);
    expect(server.countGranted('client_credentials')).to.equal(2);
  });

  it('reports a rejected client secret as a fault of the app, not of the user', async () => {
    const auth = {
      kind: 'oauth_app',
      issuer: server.url,
      clientId: APP_CLIENT.id,
      clientSecret: 'wrong-secret-0123456789',
      clientAuthentication: 'client_secret_post',
    };
    await app.operations['ai.providers.create'](ADMIN, {
      ...providerArgument(server, { providerId: 'misconfigured' }),
      auth,
    });
    const thrown = await failure(
      app.module.credentials.getAccessToken({ providerId: 'misconfigured', userId: 'alice' }),
    );
    expect(thrown)
      .to.be.instanceOf(LLMAuthError)
      .with.property('message')
      .that.includes('invalid_client')
      .and.includes('administrator');
  });

  it('serves pages with headers that prevent caching and leaks', async () => {
    for (const path of [
      '/oauth/callback?state=x',
      `/oauth/${PROVIDER_ID}/start`,
      '/oauth/nothing/here',
      '/oauth/callback/x?code=1',
    ]) {
      const { headers, status } = await new CookieBrowser().open(app.url + path);
      expect(status, path).to.be.within(400, 499);
      expect(headers.get('cache-control'), path).to.equal('no-store');
      expect(headers.get('referrer-policy'), path).to.equal('no-referrer');
      expect(headers.get('content-security-policy'), path)
        .to.include("default-src 'none'")
        .and.to.include("frame-ancestors 'none'");
      expect(headers.get('x-content-type-options'), path).to.equal('nosniff');
      expect(headers.get('location'), path).to.equal(null);
    }
    expect(app.unexpected).to.deep.equal([]);
  });

  it('does not use up a state or ticket on HEAD', async () => {
    const { page, browser } = await connectAs(app, 'alice', atCallback);
    expect((await fetch(page.url, { method: 'HEAD' })).status).to.equal(405);
    expect((await browser.open(page.url)).status).to.equal(200);
  });
});

async function isLive(server: TestAuthorizationServer, token: string): Promise<boolean> {
  const response = await fetch(`${server.url}/me`, { headers: { authorization: `Bearer ${token}` } });
  return response.status === 200;
}

function refreshAtServer(server: TestAuthorizationServer, refreshToken: string): Promise<Response> {
  const authorization = `Basic ${Buffer.from(`${CLIENT.id}:${CLIENT.secret}`).toString('base64')}`;
  return fetch(`${server.url}/token`, {
    method: 'POST',
    headers: { authorization },
    body: new URLSearchParams({ grant_type: 'refresh_token', refresh_token: refreshToken }),
  });
}

function dropRefreshTokens(server: TestAuthorizationServer): void {
  for (const [key, { model }] of server.rows) if (model === 'RefreshToken') server.rows.delete(key);
}

describe('an account that is connected', () => {
  it('is shown as connected although that could not be recorded', async () => {
    const app = await ProvidersHost.start({ onConnected: () => Promise.reject(new Error('The disk is full.')) });
    const server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    await createProvider(app, server);
    const { page } = await connectAs(app, 'alice');
    expect(page.body).to.include('Your Acme account is connected');
    expect(app.unexpected.map(String)).to.deep.equal(['Error: The disk is full.']);
    await app.stop();
    await server.stop();
  });
});
