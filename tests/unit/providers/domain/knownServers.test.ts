/** Known authorization servers: how an admin's short form expands to full settings. */
import { expect } from 'chai';
import { LLMInvalidRequestError } from '../../../../imports/business/ai/domain/errors/LLMErrors';
import { readNewProvider } from '../../../../imports/business/providers/application/accounts/readProvider';
import type { OAuthSettings } from '../../../../imports/business/providers/domain/types/OAuthSettings';
import { failure } from '../../../support/failure';
import { ADMIN, ALICE, ProvidersHost } from '../../../support/oauth/ProvidersHost';
import { json, TestHost } from '../../../support/TestHost';

function settingsOf(auth: object): OAuthSettings {
  const { provider } = readNewProvider(
    { providerId: 'p', name: 'P', vendor: 'openai', auth: { kind: 'oauth_user', ...auth } },
    () => false,
  );
  if (!('oauth' in provider.auth)) throw new Error('no OAuth settings');
  return provider.auth.oauth;
}

describe('known authorization servers', () => {
  it('request offline access to Gemini from Google', () => {
    expect(settingsOf({ server: 'google', clientId: 'id.apps.googleusercontent.com' })).to.deep.equal({
      protocol: 'oauth2',
      issuer: 'https://accounts.google.com',
      discovery: 'oidc',
      clientId: 'id.apps.googleusercontent.com',
      clientAuthentication: 'client_secret_post',
      scopes: [
        'https://www.googleapis.com/auth/cloud-platform',
        'https://www.googleapis.com/auth/generative-language.retriever',
      ],
      authorizationParameters: { access_type: 'offline', prompt: 'consent' },
    });
  });

  it('use the Entra ID endpoint of one tenant, for users and for apps', () => {
    const tenant = '8eaef023-2b34-4da1-9baa-8bc8c9d6a490';
    expect(settingsOf({ server: 'azure', tenant, clientId: 'x' })).to.deep.include({
      issuer: `https://login.microsoftonline.com/${tenant}/v2.0`,
      scopes: ['https://cognitiveservices.azure.com/.default', 'offline_access'],
    });
    expect(settingsOf({ kind: 'oauth_app', server: 'azure', tenant, clientId: 'x' }).scopes).to.deep.equal([
      'https://cognitiveservices.azure.com/.default',
    ]);
  });

  it('require no client registration at OpenRouter', () => {
    expect(settingsOf({ server: 'openrouter' })).to.deep.include({
      protocol: 'key_exchange',
      authorizationEndpoint: 'https://openrouter.ai/auth',
      tokenEndpoint: 'https://openrouter.ai/api/v1/auth/keys',
    });
  });

  it('discover the endpoints of any other server, unless an admin configures them', () => {
    expect(settingsOf({ issuer: 'https://server.example', clientId: 'x', scopes: ['llm'] })).to.deep.include({
      discovery: 'auto',
      scopes: ['llm'],
    });
    const endpoints = {
      discovery: 'none',
      authorizationEndpoint: 'https://server.example/a',
      tokenEndpoint: 'https://server.example/t',
      revocationEndpoint: 'https://server.example/r',
    };
    expect(settingsOf({ issuer: 'https://server.example', clientId: 'x', ...endpoints })).to.deep.include(endpoints);
  });

  it('let the admin’s settings override the defaults', () => {
    expect(settingsOf({ server: 'google', clientId: 'x', scopes: ['openid'] }).scopes).to.deep.equal(['openid']);
  });
});

describe('a server that issues keys to users', () => {
  let app: ProvidersHost;
  let vendor: TestHost;
  beforeEach(async () => {
    app = await ProvidersHost.start();
    vendor = await TestHost.start(json({ key: 'sk-or-v1-0123456789abcdef', user_id: 'user_1' }));
    const auth = {
      kind: 'oauth_user',
      server: 'openrouter',
      issuer: vendor.url,
      authorizationEndpoint: `${vendor.url}/auth`,
      tokenEndpoint: `${vendor.url}/api/v1/auth/keys`,
    };
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'router',
      name: 'Router',
      vendor: 'openai_compatible',
      baseURL: `${vendor.url}/api/v1`,
      access: 'everyone',
      auth,
    });
  });
  afterEach(async () => {
    await app.stop();
    await vendor.stop();
  });
  const binding = 'a-binding-0123456789-0123456789';
  const comeBack = async (query: string): Promise<Response> => {
    const url = new URL(await app.operations['ai.providers.connect'](ALICE, { providerId: 'router', binding }));
    return fetch(`${url.searchParams.get('callback_url') ?? ''}?${query}`, {
      headers: { cookie: `bolide-oauth=${binding}` },
    });
  };

  it('receives the user with a challenge and a callback URL that contains the state, and the verifier with the key request', async () => {
    const url = new URL(await app.operations['ai.providers.connect'](ALICE, { providerId: 'router', binding }));
    expect(url.origin + url.pathname).to.equal(`${vendor.url}/auth`);
    expect([...url.searchParams.keys()]).to.deep.equal(['callback_url', 'code_challenge', 'code_challenge_method']);
    expect(url.searchParams.get('code_challenge_method')).to.equal('S256');
    const callback = url.searchParams.get('callback_url') ?? '';
    expect(callback).to.match(new RegExp(`^${app.url}/oauth/callback/[\\w-]{43}$`));
    const page = await fetch(`${callback}?code=the-code`, { headers: { cookie: `bolide-oauth=${binding}` } });
    expect(page.status).to.equal(200);
    const request = vendor.requests.at(-1);
    expect(request).to.include({ method: 'POST', path: '/api/v1/auth/keys' });
    const body = JSON.parse(request?.body ?? '') as Record<string, string>;
    expect(Object.keys(body)).to.deep.equal(['code', 'code_verifier', 'code_challenge_method']);
    expect(body['code_verifier']).to.match(/^[\w-]{43}$/);
    const challenge = Buffer.from(
      await crypto.subtle.digest('SHA-256', new TextEncoder().encode(body['code_verifier'])),
    ).toString('base64url');
    expect(challenge).to.equal(url.searchParams.get('code_challenge'));
  });

  it('issues a key that is used like an API key, is never refreshed, and is deleted when the user disconnects', async () => {
    expect((await comeBack('code=the-code')).status).to.equal(200);
    const requestsBefore = vendor.requests.length;
    for (const forceRefresh of [false, true]) {
      expect(
        await app.module.credentials.getAccessToken({ providerId: 'router', userId: 'alice', forceRefresh }),
      ).to.deep.equal({ kind: 'api_key', token: 'sk-or-v1-0123456789abcdef', isOwn: true });
    }
    expect(vendor.requests).to.have.length(requestsBefore);
    expect(await app.operations['ai.providers.disconnect'](ALICE, { providerId: 'router' })).to.include({
      connected: false,
    });
    expect(
      await failure(app.module.credentials.getAccessToken({ providerId: 'router', userId: 'alice' })),
    ).to.have.property('code', 'auth-failed');
  });

  for (const [what, answer, query, status] of [
    ['a rejected code', json({ error: { message: 'Invalid code' } }, 403), 'code=x', 400],
    ['a missing code', json({ key: 'sk-or-v1-0' }), 'x=1', 400],
    ['a response without a key', json({}), 'code=x', 400],
    ['a response that is not JSON', json('<html>'), 'code=x', 400],
    ['a refusal by the user', json({ key: 'sk-or-v1-0' }), 'error=access_denied', 400],
    ['a server error', json({}, 503), 'code=x', 502],
  ] as const) {
    it(`stores nothing after ${what}`, async () => {
      vendor.answer = answer;
      expect((await comeBack(query)).status).to.equal(status);
      expect(await app.credentials.find({})).to.deep.equal([]);
    });
  }

  it('rejects two different states', async () => {
    expect((await comeBack('code=x&state=another')).status).to.equal(400);
    expect(vendor.requests).to.deep.equal([]);
  });
});

describe('discovery', () => {
  let app: ProvidersHost;
  let server: TestHost;
  beforeEach(async () => {
    app = await ProvidersHost.start();
    server = await TestHost.start();
  });
  afterEach(async () => {
    await app.stop();
    await server.stop();
  });
  const connect = async (discovery?: string): Promise<string> => {
    const auth = {
      kind: 'oauth_user',
      issuer: server.url,
      clientId: 'x',
      ...(discovery === undefined ? {} : { discovery }),
    };
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'p',
      name: 'P',
      vendor: 'openai',
      access: 'everyone',
      auth,
    });
    return app.operations['ai.providers.connect'](ALICE, {
      providerId: 'p',
      binding: 'a-binding-0123456789-0123456789',
    });
  };
  const metadata = (more: object = {}): object => ({
    issuer: server.url,
    authorization_endpoint: `${server.url}/a`,
    token_endpoint: `${server.url}/t`,
    ...more,
  });

  it('falls back to OpenID’s document, and requests it once for many users', async () => {
    server.answer = (response, request) => {
      const answer = request.path === '/.well-known/openid-configuration' ? json(metadata()) : json({}, 404);
      answer(response, request);
    };
    expect(await connect()).to.match(/\/a\?/);
    await app.operations['ai.providers.connect'](ALICE, {
      providerId: 'p',
      binding: 'a-binding-0123456789-0123456789',
    });
    expect(server.requests.map(({ path }) => path)).to.deep.equal([
      '/.well-known/oauth-authorization-server',
      '/.well-known/openid-configuration',
    ]);
  });

  it('rejects metadata of another issuer', async () => {
    server.answer = (...call) => json(metadata({ issuer: 'https://other.example' }))(...call);
    expect(await failure(connect())).to.be.instanceOf(LLMInvalidRequestError);
  });

  it('reports that a server is unavailable, and tries again later', async () => {
    server.answer = json({}, 503);
    expect(await failure(connect())).to.have.property('code', 'connection-failed');
    server.answer = (...call) => json(metadata())(...call);
    expect(
      await app.operations['ai.providers.connect'](ALICE, {
        providerId: 'p',
        binding: 'a-binding-0123456789-0123456789',
      }),
    ).to.match(/\/a\?/);
  });

  it('follows no redirects, and limits the size of a document', async () => {
    server.answer = (response) => response.writeHead(302, { location: 'http://127.0.0.1:1/' }).end();
    expect(await failure(connect('oidc'))).to.be.instanceOf(LLMInvalidRequestError);
    server.answer = (response) =>
      response.writeHead(200, { 'content-type': 'application/json' }).end(`{"issuer":"${'x'.repeat(1_000_000)}"}`);
    expect(
      await failure(
        app.operations['ai.providers.connect'](ALICE, { providerId: 'p', binding: 'a-binding-0123456789-0123456789' }),
      ),
    ).to.have.property('code', 'stream-broken');
  });

  it('connects to no private address unless the operator allows it', async () => {
    const strict = await ProvidersHost.start({ allowPrivateHosts: false });
    const auth = { kind: 'oauth_user', issuer: 'https://127.0.0.1:8443', clientId: 'x' };
    await strict.operations['ai.providers.create'](ADMIN, {
      providerId: 'p',
      name: 'P',
      vendor: 'openai',
      access: 'everyone',
      auth,
    });
    expect(
      await failure(
        strict.operations['ai.providers.connect'](ALICE, {
          providerId: 'p',
          binding: 'a-binding-0123456789-0123456789',
        }),
      ),
    )
      .to.have.property('message')
      .that.includes('not a public address');
    await strict.stop();
  });
});
