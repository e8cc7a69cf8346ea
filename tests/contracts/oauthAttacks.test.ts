/**
 * Attacks on the OAuth flow and on stored secrets. Each one also runs with its guard removed, where it succeeds.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { expect } from 'chai';
import {
  LLMAuthError,
  LLMInvalidRequestError,
  LLMPermissionError,
} from '../../imports/business/ai/domain/errors/LLMErrors';
import { destinationHash } from '../../imports/business/providers/application/credentials/CredentialVault';
import { OAuthFlow } from '../../imports/business/providers/application/oauth/OAuthFlow';
import type { FlowOutcome } from '../../imports/business/providers/application/oauth/OAuthFlow';
import type { AuthorizationStore } from '../../imports/business/providers/domain/interfaces/AuthorizationStore';
import type { Sealer } from '../../imports/business/providers/domain/interfaces/Sealer';
import { KeyRing } from '../../imports/business/providers/infrastructure/sealing/KeyRing';
import { SealingService } from '../../imports/business/providers/infrastructure/sealing/SealingService';
import { systemClock } from '../../imports/business/providers/infrastructure/system/systemClock';
import { failure } from '../support/failure';
import { TestAuthorizationServer, CLIENT } from '../support/oauth/TestAuthorizationServer';
import {
  atCallback,
  connectAs,
  createProvider,
  PROVIDER_ID,
  providerArgument,
} from '../support/oauth/connectedProvider';
import { CookieBrowser } from '../support/oauth/CookieBrowser';
import { createFlowDependencies } from '../support/oauth/flowDependencies';
import type { FlowDependencies } from '../support/oauth/flowDependencies';
import { ADMIN, ALICE, BOB, newKey, ProvidersHost, operationsOf } from '../support/oauth/ProvidersHost';
import { json, TestHost } from '../support/TestHost';

const COOKIE = 'bolide-oauth';
const TEN_MINUTES = 10 * 60_000;

describe('the OAuth flow under attack', () => {
  let app: ProvidersHost;
  let server: TestAuthorizationServer;
  let dependencies: FlowDependencies;
  beforeEach(async () => {
    app = await ProvidersHost.start();
    server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    await createProvider(app, server);
    dependencies = createFlowDependencies(app);
  });
  afterEach(async () => {
    await app.stop();
    await server.stop();
  });

  /** A browser that has completed the flow up to the callback, which it has not requested yet. */
  const almostConnected = async (
    userId: string,
  ): Promise<{ callback: URL; browser: CookieBrowser; binding: string }> => {
    const { page, browser } = await connectAs(app, userId, atCallback);
    return { callback: new URL(page.url), browser, binding: browser.cookieOf(new URL(app.url).host, COOKIE) ?? '' };
  };
  const without = (guard: Partial<FlowDependencies>): OAuthFlow => new OAuthFlow({ ...dependencies, ...guard });
  const codeExchanges = (): number =>
    server.tokenRequests.filter(({ parameters }) => parameters.get('grant_type') === 'authorization_code').length;
  const isConnected = async (userId: string): Promise<boolean> =>
    (await app.credentials.findOne({ userId, kind: 'oauth' })) !== undefined;

  it('rejects a state with any single character altered', async () => {
    const { callback, browser } = await almostConnected('alice');
    const state = callback.searchParams.get('state') ?? '';
    for (let at = 0; at < state.length; at++) {
      const altered = state.slice(0, at) + (state[at] === 'A' ? 'B' : 'A') + state.slice(at + 1);
      const url = new URL(callback);
      url.searchParams.set('state', altered);
      expect((await browser.open(url.href)).status).to.equal(400);
    }
    expect(codeExchanges()).to.equal(0);
    expect((await browser.open(callback.href)).status, 'control: unaltered').to.equal(200);
  });

  it('rejects a state that is missing, empty, duplicated, malformed or too long', async () => {
    const { callback, browser } = await almostConnected('alice');
    const query = callback.search.slice(1);
    const state = callback.searchParams.get('state') ?? '';
    const withoutState = query.replace(/&?state=[^&]*/, '');
    for (const odd of [
      withoutState,
      `${withoutState}&state=`,
      `${query}&state=${state}`,
      `${query}&state=other`,
      `${withoutState}&state[]=${state}`,
      `${withoutState}&state=${'x'.repeat(9_000)}`,
    ]) {
      expect((await browser.open(`${app.url}/oauth/callback?${odd}`)).status, odd.slice(0, 80)).to.be.within(400, 499);
    }
    expect(codeExchanges()).to.equal(0);
    expect((await browser.open(callback.href)).status, 'control: unmodified').to.equal(200);
  });

  it('rejects a replayed callback, and logs it', async () => {
    const { callback, browser } = await almostConnected('alice');
    expect((await browser.open(callback.href)).status).to.equal(200);
    const again = await browser.open(callback.href);
    expect(again.status).to.equal(400);
    expect(again.body).to.include('already been used');
    expect(codeExchanges()).to.equal(1);
    expect(app.log.filter(({ fields }) => fields['reason'] === 'state-used-again')).to.have.length(1);
  });

  it('control: sends a replayed code to the server if states are reusable', async () => {
    const { callback, binding } = await almostConnected('alice');
    const stored = await dependencies.authorizations.find(await onlyPendingId(app));
    const reusable: AuthorizationStore = {
      ...dependencies.authorizations,
      find: () => Promise.resolve(stored),
      use: () => Promise.resolve(true),
    };
    const flow = without({ authorizations: reusable });
    await flow.complete({ parameters: callback.searchParams, binding });
    await flow.complete({ parameters: callback.searchParams, binding });
    expect(codeExchanges()).to.equal(2);
  });

  it('exchanges the code once for twenty concurrent callbacks', async () => {
    const { callback, browser } = await almostConnected('alice');
    const pages = await Promise.all(Array.from({ length: 20 }, () => browser.open(callback.href)));
    expect(pages.filter(({ status }) => status === 200)).to.have.length(1);
    expect(codeExchanges()).to.equal(1);
  });

  it('control: exchanges the code repeatedly for concurrent callbacks if states are reusable', async () => {
    const { callback, binding } = await almostConnected('alice');
    const stored = await dependencies.authorizations.find(await onlyPendingId(app));
    const reusable: AuthorizationStore = {
      ...dependencies.authorizations,
      find: () => Promise.resolve(stored),
      use: () => Promise.resolve(true),
    };
    const flow = without({ authorizations: reusable });
    await Promise.all(Array.from({ length: 20 }, () => flow.complete({ parameters: callback.searchParams, binding })));
    expect(codeExchanges()).to.be.greaterThan(1);
  });

  it('rejects a callback after ten minutes', async () => {
    const { callback, binding } = await almostConnected('alice');
    const late = { ...systemClock, now: () => Date.now() + TEN_MINUTES };
    expect(await without({ clock: late }).complete({ parameters: callback.searchParams, binding })).to.include({
      connected: false,
      reason: 'state-expired',
    });
    expect(codeExchanges()).to.equal(0);
  });

  it('control: accepts the same callback if no time has passed', async () => {
    const { callback, binding } = await almostConnected('alice');
    const stopped = { ...systemClock, now: () => Date.now() + TEN_MINUTES - 5_000 };
    expect(await without({ clock: stopped }).complete({ parameters: callback.searchParams, binding })).to.include({
      connected: true,
    });
  });

  it('rejects a callback in another user’s session, even in the same browser', async () => {
    const { callback, browser } = await almostConnected('alice');
    browser.headers['x-test-user'] = 'bob';
    const page = await browser.open(callback.href);
    expect(page.status).to.equal(403);
    expect(codeExchanges()).to.equal(0);
  });

  it('control: accepts it if sessions are not compared', async () => {
    const { callback, browser } = await almostConnected('alice');
    delete browser.headers['x-test-user'];
    expect((await browser.open(callback.href)).status).to.equal(200);
  });

  /** Bob starts the flow and lures Alice into completing it, which would connect her vendor account to his user. */
  const lured = async (): Promise<{ parameters: URLSearchParams; victim: CookieBrowser; bobsBinding: string }> => {
    const bob = new CookieBrowser({ 'x-test-user': 'bob' });
    let link = '';
    await bob.open(`${app.url}/oauth/${PROVIDER_ID}/start`, (url) => {
      if (url.startsWith(server.url)) link = url;
      return link !== '';
    });
    const victim = new CookieBrowser();
    const { url } = await victim.authorize(await victim.open(link, atCallback), 'alice@acme', atCallback);
    return {
      parameters: new URL(url).searchParams,
      victim,
      bobsBinding: bob.cookieOf(new URL(app.url).host, COOKIE) ?? '',
    };
  };

  it('does not connect the account of a victim who was lured into a flow started in another browser', async () => {
    const { parameters, victim } = await lured();
    expect((await victim.open(`${app.url}/oauth/callback?${parameters.toString()}`)).status).to.equal(403);
    expect(codeExchanges()).to.equal(0);
    expect(await isConnected('bob')).to.equal(false);
  });

  it('control: connects the victim’s account to the attacker if browsers are not compared', async () => {
    const { parameters, bobsBinding } = await lured();
    expect(await without({}).complete({ parameters, binding: bobsBinding })).to.include({
      connected: true,
      userId: 'bob',
    });
    expect(await isConnected('bob')).to.equal(true);
  });

  it('rejects a binding cookie injected beside the browser’s own', async () => {
    const open = (parameters: URLSearchParams, cookie: string): Promise<Response> =>
      fetch(`${app.url}/oauth/callback?${parameters.toString()}`, { headers: { cookie } });
    const first = await lured();
    const own = 'what-the-victims-browser-had-0123';
    expect((await open(first.parameters, `${COOKIE}=${first.bobsBinding}; ${COOKIE}=${own}`)).status).to.equal(403);
    const second = await lured();
    expect((await open(second.parameters, `${COOKIE}=${own}; ${COOKIE}=${second.bobsBinding}`)).status).to.equal(403);
    expect(await isConnected('bob')).to.equal(false);
    const third = await lured();
    expect((await open(third.parameters, `${COOKIE}=${third.bobsBinding}`)).status, 'control: accepted alone').to.equal(
      200,
    );
  });

  it('rejects a ticket’s confirmation that another site submits', async () => {
    const ticket =
      new URL(await app.operations['ai.providers.connect'](BOB, { providerId: PROVIDER_ID })).searchParams.get(
        'ticket',
      ) ?? '';
    const press = (headers: Record<string, string>): Promise<Response> =>
      fetch(`${app.url}/oauth/${PROVIDER_ID}/start`, {
        method: 'POST',
        redirect: 'manual',
        headers,
        body: new URLSearchParams({ ticket }),
      });
    for (const headers of [
      {},
      { origin: 'https://evil.example' },
      { origin: 'null', 'sec-fetch-site': 'cross-site' },
      { 'sec-fetch-site': 'same-site' },
    ]) {
      expect((await press(headers)).status, JSON.stringify(headers)).to.equal(403);
    }
    expect((await press({ origin: app.url })).status, 'control: from a page of this app').to.equal(303);
  });

  it('rejects a ticket for another provider or in another user’s session', async () => {
    await createProvider(app, server, { providerId: 'other', name: 'Other' });
    const url = await app.operations['ai.providers.connect'](BOB, { providerId: PROVIDER_ID });
    expect(
      (await new CookieBrowser({ 'x-test-user': 'bob' }).open(url.replace(`/${PROVIDER_ID}/`, '/other/'))).status,
    ).to.equal(400);
    expect((await new CookieBrowser({ 'x-test-user': 'alice' }).open(url)).status).to.equal(403);
    const browser = new CookieBrowser({ 'x-test-user': 'bob' });
    expect((await browser.open(url, (each) => each.startsWith(server.url))).status, 'control').to.equal(0);
  });

  it('does not start for forged, unknown or forbidden provider ids', async () => {
    await createProvider(app, server, { providerId: 'closed', access: 'admins' });
    const browser = new CookieBrowser({ 'x-test-user': 'alice' });
    for (const id of [
      'closed',
      'unknown',
      'callback',
      '__proto__',
      '..%2F..%2Facme',
      'acme%00',
      '%7B%22$ne%22:1%7D',
      'x'.repeat(500),
    ]) {
      const page = await browser.open(`${app.url}/oauth/${id}/start`);
      expect(page.status, id).to.be.oneOf([403, 404, 400]);
      expect(page.url.startsWith(app.url), id).to.equal(true);
    }
    expect(await app.authorizations.find({})).to.deep.equal([]);
    expect(await failure(app.operations['ai.providers.connect'](ALICE, { providerId: 'closed' }))).to.be.instanceOf(
      LLMPermissionError,
    );
    expect(
      (await browser.open(`${app.url}/oauth/${PROVIDER_ID}/start`, (url) => url.startsWith(server.url))).status,
      'control',
    ).to.equal(0);
  });

  it('rejects a callback for a provider whose settings have changed, or that the user may no longer use', async () => {
    const first = await almostConnected('alice');
    await app.operations['ai.providers.update'](ADMIN, {
      ...providerArgument(server, {}, { clientId: 'another-client' }),
    });
    expect((await first.browser.open(first.callback.href)).status).to.equal(409);
    await app.operations['ai.providers.update'](ADMIN, providerArgument(server));
    const second = await almostConnected('alice');
    await app.operations['ai.providers.update'](ADMIN, { providerId: PROVIDER_ID, access: 'admins' });
    expect((await second.browser.open(second.callback.href)).status).to.equal(403);
    expect(codeExchanges()).to.equal(0);
    await app.operations['ai.providers.update'](ADMIN, { providerId: PROVIDER_ID, access: 'everyone' });
    const third = await almostConnected('alice');
    expect((await third.browser.open(third.callback.href)).status, 'control').to.equal(200);
  });

  it('never redirects to a URL from the request', async () => {
    const browser = new CookieBrowser({
      'x-test-user': 'alice',
      'x-forwarded-host': 'evil.example',
      forwarded: 'host=evil.example',
      'x-forwarded-proto': 'https',
    });
    const queries = [
      'redirect_uri=https://evil.example',
      'returnTo=//evil.example',
      'next=https:evil.example',
      'url=javascript:alert(1)',
      'client_id=evil',
      'state=fixed',
    ];
    for (const query of queries) {
      let target = '';
      await browser.open(`${app.url}/oauth/${PROVIDER_ID}/start?${query}`, (url) => {
        if (!url.startsWith(app.url)) target = url;
        return target !== '';
      });
      expect(new URL(target).origin, query).to.equal(server.url);
      expect(new URL(target).searchParams.get('redirect_uri'), query).to.equal(`${app.url}/oauth/callback`);
      expect(target).not.to.include('evil');
    }
    const { callback, browser: other } = await almostConnected('alice');
    for (const query of queries)
      callback.searchParams.append(
        query.split('=')[0] === 'state' ? 'x' : (query.split('=')[0] ?? ''),
        'https://evil.example',
      );
    const page = await other.open(callback.href);
    expect(page.url.startsWith(app.url)).to.equal(true);
    expect(page.body).not.to.include('evil.example');
  });

  it('control: sends codes to the attacker if the root URL comes from the request', async () => {
    const url = await without({ rootUrl: 'https://evil.example' }).start(
      'alice',
      PROVIDER_ID,
      'a-binding-0123456789-0123456789',
    );
    expect(url.searchParams.get('redirect_uri')).to.equal('https://evil.example/oauth/callback');
  });

  it('escapes the server’s error texts on its pages', async () => {
    const hostile = `<script>alert(1)</script><img src=x onerror="alert(2)">'"\`&lt; \u202e`;
    const { callback, browser } = await almostConnected('alice');
    const state = callback.searchParams.get('state') ?? '';
    const answer = new URLSearchParams({
      error: 'access_denied"><script>alert(0)</script>',
      error_description: hostile,
      state,
      iss: server.url,
    });
    const page = await browser.open(`${app.url}/oauth/callback?${answer.toString()}`);
    expect(page.status).to.equal(400);
    expect(page.body).to.include('alert(1)');
    expect(page.body).not.to.match(/<(?:script|img|svg|iframe)/i);
    expect(page.body).not.to.include('\u202e');
    expect(page.headers.get('content-security-policy')).not.to.include('unsafe');
    expect(decodeURIComponent(answer.toString()), 'control: the text contained markup').to.match(/<script/);
  });

  it('rejects the code of another flow, through PKCE and through the nonce', async () => {
    const victim = await almostConnected('alice');
    const attacker = await almostConnected('bob');
    attacker.callback.searchParams.set('code', victim.callback.searchParams.get('code') ?? '');
    const page = await attacker.browser.open(attacker.callback.href);
    expect(page.status).to.equal(400);
    expect(page.body).to.include('invalid_grant');
    expect(await isConnected('bob')).to.equal(false);
  });

  it('control: accepts the code of another flow on a server without PKCE if there is no nonce either', async () => {
    const lax = await TestAuthorizationServer.start({
      redirectUris: [`${app.url}/oauth/callback`],
      requirePkce: false,
    });
    stripPkce(lax);
    await createProvider(app, lax, { providerId: 'lax', name: 'Lax' }, { scopes: ['llm'] });
    const back = async (userId: string): Promise<{ url: URL; browser: CookieBrowser }> => {
      const { page, browser } = await connectAs(app, userId, atCallback, 'lax');
      return { url: new URL(page.url), browser };
    };
    const [victim, attacker] = [await back('alice'), await back('bob')];
    attacker.url.searchParams.set('code', victim.url.searchParams.get('code') ?? '');
    const page = await attacker.browser.open(attacker.url.href);
    expect(page.status, page.body).to.equal(200);
    await lax.stop();
  });

  it('rejects a code if the challenge was stripped from the authorization request', async () => {
    const browser = new CookieBrowser({ 'x-test-user': 'alice' });
    let link = '';
    await browser.open(`${app.url}/oauth/${PROVIDER_ID}/start`, (url) => {
      if (url.startsWith(server.url)) link = url;
      return link !== '';
    });
    const downgraded = new URL(link);
    downgraded.searchParams.delete('code_challenge');
    downgraded.searchParams.delete('code_challenge_method');
    const page = await browser.authorize(await browser.open(downgraded.href), 'alice@acme');
    expect(page.status).to.equal(400);
    expect(await isConnected('alice')).to.equal(false);
  });

  it('does not start with a server that supports only plain challenges', async () => {
    const endpoints = (methods: readonly string[]): object => ({
      issuer: plain.url,
      authorization_endpoint: `${plain.url}/auth`,
      token_endpoint: `${plain.url}/token`,
      code_challenge_methods_supported: methods,
    });
    const plain = await TestHost.start();
    plain.answer = (...call) => json(endpoints(['plain']))(...call);
    const auth = { issuer: plain.url, discovery: 'oauth2' };
    await app.operations['ai.providers.create'](ADMIN, providerArgument(server, { providerId: 'plain' }, auth));
    expect(
      await failure(
        app.operations['ai.providers.connect'](ALICE, {
          providerId: 'plain',
          binding: 'a-binding-0123456789-0123456789',
        }),
      ),
    )
      .to.be.instanceOf(LLMInvalidRequestError)
      .with.property('message')
      .that.includes('S256');
    plain.answer = (...call) => json(endpoints(['plain', 'S256']))(...call);
    const url = await operationsOf(app.createModule())['ai.providers.connect'](ALICE, {
      providerId: 'plain',
      binding: 'a-binding-0123456789-0123456789',
    });
    expect(url.startsWith(`${plain.url}/auth?`), 'control').to.equal(true);
    await plain.stop();
  });

  it('does not redirect to an unsafe URL in the server’s metadata', async () => {
    const odd = await TestHost.start();
    for (const endpoint of [
      'javascript:alert(1)',
      'data:text/html,x',
      'file:///etc/passwd',
      'https://user:password@evil.example/',
    ]) {
      odd.answer = (...call) =>
        json({ issuer: odd.url, authorization_endpoint: endpoint, token_endpoint: `${odd.url}/token` })(...call);
      await app.operations['ai.providers.create'](
        ADMIN,
        providerArgument(server, { providerId: 'odd' }, { issuer: odd.url, discovery: 'oauth2' }),
      );
      const page = await new CookieBrowser({ 'x-test-user': 'alice' }).open(`${app.url}/oauth/odd/start`);
      expect(page.status, endpoint).to.equal(400);
      await app.operations['ai.providers.remove'](ADMIN, { providerId: 'odd' });
    }
    await odd.stop();
  });

  /** Mix-up: the user starts at Evil, which redirects the browser to the honest server to obtain its code. */
  const mixedUp = async (issuer: 'honest' | 'silent'): Promise<{ outcome: FlowOutcome; stolen: string[] }> => {
    const evil = await TestHost.start();
    evil.answer = (response, request) => {
      const metadata = {
        issuer: evil.url,
        authorization_endpoint: `${evil.url}/auth`,
        token_endpoint: `${evil.url}/token`,
      };
      const answer = request.path.startsWith('/.well-known/') ? json(metadata) : json({ error: 'invalid_grant' }, 400);
      answer(response, request);
    };
    await app.operations['ai.providers.create'](
      ADMIN,
      providerArgument(server, { providerId: 'evil', name: 'Evil' }, { issuer: evil.url, discovery: 'oauth2' }),
    );
    const binding = 'a-binding-0123456789-0123456789';
    const authorizationUrl = new URL(
      await app.operations['ai.providers.connect'](ALICE, { providerId: 'evil', binding }),
    );
    const honest = new URL(`${server.url}/auth`);
    honest.search = authorizationUrl.search;
    honest.searchParams.set('client_id', CLIENT.id);
    const browser = new CookieBrowser();
    const { url } = await browser.authorize(await browser.open(honest.href, atCallback), 'alice@acme', atCallback);
    const parameters = new URL(url).searchParams;
    expect(parameters.get('iss')).to.equal(server.url);
    if (issuer === 'silent') parameters.delete('iss');
    const outcome = await app.module.flow.complete({ parameters, binding });
    const stolen = evil.requests
      .filter(({ path }) => path === '/token')
      .map(({ body }) => new URLSearchParams(body).get('code') ?? '');
    await evil.stop();
    return { outcome, stolen };
  };

  it('does not send the code of one server to another in a mix-up attack', async () => {
    const { outcome, stolen } = await mixedUp('honest');
    expect(outcome).to.include({ connected: false, reason: 'refused-by-server' });
    expect(stolen).to.deep.equal([]);
  });

  it('control: sends the code to the other server if the response names no issuer', async () => {
    const { stolen } = await mixedUp('silent');
    expect(stolen).to.have.length(1);
    expect(stolen[0]).to.match(/^[\w-]{20,}$/);
  });
});

describe('stored secrets under attack', () => {
  let app: ProvidersHost;
  let server: TestAuthorizationServer;
  before(async () => {
    app = await ProvidersHost.start();
    server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    await createProvider(app, server);
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'keys',
      name: 'Keys',
      vendor: 'openai',
      auth: { kind: 'user_api_key' },
      access: 'everyone',
    });
  });
  after(async () => {
    await app.stop();
    await server.stop();
  });
  beforeEach(async () => {
    await app.operations['ai.providers.setMyApiKey'](ALICE, { providerId: 'keys', apiKey: 'sk-alices-own-key-000' });
    await app.operations['ai.providers.setMyApiKey'](BOB, { providerId: 'keys', apiKey: 'sk-bobs-own-key-111' });
  });
  const keyOf = async (userId: string): Promise<string | undefined> =>
    (await app.module.credentials.getAccessToken({ providerId: 'keys', userId }))?.token;

  /** Copies Alice's box into Bob's row. */
  const swap = async (): Promise<void> => {
    const alices = (await app.credentials.findOne({ providerId: 'keys', userId: 'alice' }))!;
    const { sealed, keyId, destination } = alices;
    await app.credentials.update({ providerId: 'keys', userId: 'bob' }, { $set: { sealed, keyId, destination } });
  };

  it('do not open in another user’s row', async () => {
    await swap();
    expect(await failure(keyOf('bob')))
      .to.be.instanceOf(LLMAuthError)
      .with.property('message')
      .that.includes('cannot be decrypted');
    expect(app.log.at(-1)).to.deep.include({ level: 'warn', event: 'credential:does-not-open' });
  });

  it('control: open in any row if they are sealed without a binding', async () => {
    const unbound = createFlowDependencies(app, { sealer: unboundSealer(app.settings.secretKeys) });
    const provider = (await unbound.providers.find('keys'))!;
    await unbound.vault.put(provider, 'api_key', 'alice', { type: 'api_key', key: 'sk-alices-own-key-000' });
    await unbound.vault.put(provider, 'api_key', 'bob', { type: 'api_key', key: 'sk-bobs-own-key-111' });
    await swap();
    expect((await unbound.tokens.getAccessToken({ providerId: 'keys', userId: 'bob' }))?.token).to.equal(
      'sk-alices-own-key-000',
    );
  });

  it('do not open under another provider', async () => {
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'twin',
      name: 'Twin',
      vendor: 'openai',
      auth: { kind: 'user_api_key' },
      access: 'everyone',
    });
    await app.operations['ai.providers.setMyApiKey'](BOB, { providerId: 'twin', apiKey: 'sk-bobs-twin-key-222' });
    const { sealed, keyId } = (await app.credentials.findOne({ providerId: 'keys', userId: 'bob' }))!;
    await app.credentials.update({ providerId: 'twin', userId: 'bob' }, { $set: { sealed, keyId } });
    expect(
      await failure(app.module.credentials.getAccessToken({ providerId: 'twin', userId: 'bob' })),
    ).to.be.instanceOf(LLMAuthError);
    await app.operations['ai.providers.remove'](ADMIN, { providerId: 'twin' });
  });

  it('do not open after any single bit was flipped', async () => {
    const row = (await app.credentials.findOne({ providerId: 'keys', userId: 'alice' }))!;
    const bytes = Buffer.from(row.sealed, 'base64url');
    const dependencies = createFlowDependencies(app);
    const provider = (await dependencies.providers.find('keys'))!;
    for (let bit = 0; bit < bytes.length * 8; bit++) {
      const flipped = Buffer.from(bytes);
      flipped.writeUInt8(flipped.readUInt8(bit >> 3) ^ (1 << (bit & 7)), bit >> 3);
      expect(dependencies.vault.contentOf({ ...row, sealed: flipped.toString('base64url') }), `bit ${bit}`).to.equal(
        undefined,
      );
    }
    expect(dependencies.vault.contentOf(row), 'control').to.deep.equal({
      type: 'api_key',
      key: 'sk-alices-own-key-000',
    });
    expect(provider.name).to.equal('Keys');
  });

  it('do not open if their key is missing, or under the id of another key', async () => {
    const other = newKey('k2');
    const onlyNew = app.createModule({ secretKeys: other });
    const thrown = await failure(onlyNew.credentials.getAccessToken({ providerId: 'keys', userId: 'alice' }));
    expect(thrown)
      .to.be.instanceOf(LLMAuthError)
      .with.property('message')
      .that.includes('a key that this server does not have');
    await app.credentials.update({ providerId: 'keys', userId: 'alice' }, { $set: { keyId: 'k2' } });
    const both = app.createModule({ secretKeys: `${other},${app.settings.secretKeys}` });
    expect(await failure(both.credentials.getAccessToken({ providerId: 'keys', userId: 'alice' }))).to.be.instanceOf(
      LLMAuthError,
    );
    await app.credentials.update({ providerId: 'keys', userId: 'alice' }, { $set: { keyId: 'k1' } });
    expect((await both.credentials.getAccessToken({ providerId: 'keys', userId: 'alice' }))?.token, 'control').to.equal(
      'sk-alices-own-key-000',
    );
  });

  it('are not sent to a URL that was tampered with in the provider’s row', async () => {
    await connectAs(app, 'alice');
    const stored = (await app.providers.findOne({ _id: PROVIDER_ID }))!;
    const thief = await TestHost.start(json({ access_token: 'x', token_type: 'bearer' }));
    const oauth = JSON.stringify({
      ...(JSON.parse(stored.oauth ?? '{}') as object),
      tokenEndpoint: `${thief.url}/token`,
    });
    await app.expire(PROVIDER_ID, 'alice');
    for (const tampered of [{ oauth }, { baseURL: thief.url }]) {
      await app.providers.update({ _id: PROVIDER_ID }, { $set: tampered });
      const thrown = await failure(
        app.createModule().credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'alice' }),
      );
      expect(thrown).to.be.instanceOf(LLMAuthError).with.property('message').that.includes('another address');
      await app.providers.update({ _id: PROVIDER_ID }, { $set: { oauth: stored.oauth, baseURL: stored.baseURL } });
    }
    const row = (await app.credentials.findOne({ providerId: PROVIDER_ID, userId: 'alice' }))!;
    await app.providers.update({ _id: PROVIDER_ID }, { $set: { baseURL: thief.url } });
    const forged = createFlowDependencies(app).vault;
    await app.credentials.update({ _id: row._id }, { $set: { destination: await destinationNow(app) } });
    expect(
      await failure(forged.open((await createFlowDependencies(app).providers.find(PROVIDER_ID))!, 'oauth', 'alice')),
      'the destination is part of the binding',
    ).to.be.instanceOf(LLMAuthError);
    await app.providers.update({ _id: PROVIDER_ID }, { $set: { baseURL: stored.baseURL } });
    await app.credentials.update({ _id: row._id }, { $set: { destination: row.destination } });
    expect(
      (await app.module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'alice' }))?.kind,
      'control',
    ).to.equal('bearer');
    expect(thief.requests).to.deep.equal([]);
    await thief.stop();
  });

  it('are deleted when an administrator changes the address they were given for', async () => {
    await app.operations['ai.providers.update'](ADMIN, { providerId: 'keys', baseURL: 'https://elsewhere.example/v1' });
    expect(await failure(keyOf('alice'))).to.be.instanceOf(LLMAuthError);
    expect(await app.credentials.find({ providerId: 'keys' })).to.deep.equal([]);
    await app.operations['ai.providers.update'](ADMIN, { providerId: 'keys', baseURL: null });
  });
});

async function onlyPendingId(app: ProvidersHost): Promise<string> {
  const pending = await app.authorizations.find({ stage: 'state' });
  expect(pending).to.have.length(1);
  return pending[0]!._id;
}

async function destinationNow(app: ProvidersHost): Promise<string> {
  return destinationHash((await createFlowDependencies(app).providers.find(PROVIDER_ID))!);
}

/** Strips the challenge and the verifier from all requests, as for a server without PKCE. */
function stripPkce(server: TestAuthorizationServer): void {
  server.intercept = (request, response) => {
    const url = new URL(request.url ?? '', server.url);
    if (url.pathname === '/auth') {
      url.searchParams.delete('code_challenge');
      url.searchParams.delete('code_challenge_method');
      request.url = url.pathname + url.search;
    }
    if (request.url !== '/token' || request.headers['x-passed'] !== undefined) return false;
    void forwardWithoutVerifier(server, request, response);
    return true;
  };
}

async function forwardWithoutVerifier(
  server: TestAuthorizationServer,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const body = new URLSearchParams(Buffer.concat(chunks).toString());
  body.delete('code_verifier');
  const answer = await fetch(`${server.url}/token`, {
    method: 'POST',
    body,
    headers: { authorization: request.headers.authorization ?? '', 'x-passed': 'yes' },
  });
  response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
}

/** A real sealer that ignores the binding. */
function unboundSealer(secretKeys: string): Sealer {
  const sealer = new SealingService(KeyRing.parse(secretKeys));
  return {
    currentKeyId: sealer.currentKeyId,
    seal: (secret) => sealer.seal(secret, []),
    open: (box) => sealer.open(box, []),
  };
}
