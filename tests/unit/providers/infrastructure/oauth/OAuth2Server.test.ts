/**
 * Responses of token endpoints, valid, invalid and broken, and the results or errors that they cause. No error contains
 * a token.
 */
import { inspect } from 'node:util';
import { expect } from 'chai';
import { DEFAULT_TRANSPORT_LIMITS } from '../../../../../imports/business/ai/domain/types/VendorTypes';
import { createGuardedFetch } from '../../../../../imports/business/ai/infrastructure/clients/http/guardedFetch';
import type { OAuthClient } from '../../../../../imports/business/providers/domain/interfaces/AuthorizationServer';
import { OAuth2Server } from '../../../../../imports/business/providers/infrastructure/oauth/OAuth2Server';
import { ServerMetadataCache } from '../../../../../imports/business/providers/infrastructure/oauth/ServerMetadataCache';
import { systemClock } from '../../../../../imports/business/providers/infrastructure/system/systemClock';
import { failure } from '../../../../support/failure';
import { json, TestHost } from '../../../../support/TestHost';
import type { Answer } from '../../../../support/TestHost';

const CANARY = 'canary-Refresh-0123456789-token';
const GOOD = {
  access_token: 'canary-Access-0123456789-token',
  token_type: 'Bearer',
  expires_in: 3600,
  refresh_token: 'canary-Next-0123456789-token',
  scope: 'a b',
};

describe('a token endpoint', () => {
  let host: TestHost;
  const fetch = createGuardedFetch({ limits: DEFAULT_TRANSPORT_LIMITS, allowPrivateHosts: true });
  const server = new OAuth2Server({
    fetch,
    metadata: new ServerMetadataCache({ fetch, clock: systemClock, allowInsecure: () => true }),
  });
  before(async () => {
    host = await TestHost.start();
  });
  after(async () => {
    fetch.close();
    await host.stop();
  });

  const client = (more: Partial<OAuthClient['settings']> = {}): OAuthClient => ({
    settings: {
      protocol: 'oauth2',
      issuer: host.url,
      discovery: 'none',
      tokenEndpoint: `${host.url}/token`,
      revocationEndpoint: `${host.url}/revoke`,
      clientId: 'the client',
      scopes: [],
      ...more,
    },
    secret: 'canary-Client-0123456789-secret',
  });
  const refresh = (answer: Answer, more?: Partial<OAuthClient['settings']>): Promise<unknown> => {
    host.answer = answer;
    return server.refresh(client(more), CANARY, () => true);
  };

  it('receives a request as RFC 6749 specifies, and its expiry counts from receipt', async () => {
    expect(await refresh(json(GOOD))).to.deep.equal({
      kind: 'bearer',
      accessToken: GOOD.access_token,
      refreshToken: GOOD.refresh_token,
      expiresInMs: 3_600_000,
      scopes: ['a', 'b'],
    });
    const request = host.requests.at(-1);
    expect(Object.fromEntries(new URLSearchParams(request?.body))).to.deep.equal({
      grant_type: 'refresh_token',
      refresh_token: CANARY,
    });
    expect(request?.headers.authorization, 'RFC 6749, 2.3.1: form-encoded, then base64').to.equal(
      `Basic ${Buffer.from('the+client:canary%2DClient%2D0123456789%2Dsecret').toString('base64')}`,
    );
  });

  it('may omit optional fields', async () => {
    expect(
      await refresh(json({ access_token: 'x', token_type: 'bearer' }), { scopes: ['asked'] }),
      'the granted scopes are unchanged',
    ).to.deep.equal({ kind: 'bearer', accessToken: 'x' });
    expect(await server.clientCredentials(client({ scopes: ['asked'] }))).to.deep.equal({
      kind: 'bearer',
      accessToken: 'x',
      scopes: ['asked'],
    });
    const parameters = new URLSearchParams({ code: 'c', state: 's' });
    const answer = {
      state: 's',
      nonce: 'n',
      codeVerifier: 'v'.repeat(43),
      redirectUri: 'https://app.example/oauth/callback',
      parameters,
    };
    expect(await server.exchange(client({ scopes: ['asked'] }), answer)).to.deep.equal({
      kind: 'bearer',
      accessToken: 'x',
      scopes: ['asked'],
    });
    expect(await refresh(json({ access_token: 'x', token_type: 'bearer', expires_in: '60' }))).to.include({
      expiresInMs: 60_000,
    });
  });

  it('receives the secret in the body if the provider’s settings require it', async () => {
    await refresh(json(GOOD), { clientAuthentication: 'client_secret_post' });
    expect(new URLSearchParams(host.requests.at(-1)?.body).get('client_secret')).to.equal(
      'canary-Client-0123456789-secret',
    );
    expect(host.requests.at(-1)?.headers.authorization).to.equal(undefined);
  });

  it('receives nothing once the lease was lost', async () => {
    const before = host.requests.length;
    expect(await failure(server.refresh(client(), CANARY, () => false))).to.have.property('name', 'StaleLeaseError');
    expect(host.requests).to.have.length(before);
  });

  it('issues a usable token even if other fields are invalid', async () => {
    for (const expires_in of [null, 'soon', '', -1, 0, 1e300, true, [], {}]) {
      expect(await refresh(json({ ...GOOD, expires_in })), JSON.stringify(expires_in)).to.deep.equal({
        kind: 'bearer',
        accessToken: GOOD.access_token,
        refreshToken: GOOD.refresh_token,
        scopes: ['a', 'b'],
      });
    }
    for (const nothing of [null, '']) {
      expect(await refresh(json({ ...GOOD, refresh_token: nothing, scope: nothing }))).to.deep.equal({
        kind: 'bearer',
        accessToken: GOOD.access_token,
        expiresInMs: 3_600_000,
      });
    }
    expect(
      await refresh((response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify(GOOD).replace('3600', '1e999')),
      ),
    ).to.not.have.property('expiresInMs');
    expect(await failure(refresh(json({ ...GOOD, access_token: null })))).to.include({ error: 'invalid_response' });
    expect(await failure(refresh(json({ ...GOOD, refresh_token: 7 })))).to.include({ error: 'invalid_response' });
  });

  const ERRORS: readonly (readonly [what: string, answer: Answer, expected: Readonly<Record<string, unknown>>])[] = [
    [
      'invalid_grant',
      json({ error: 'invalid_grant', error_description: `no ${'x'.repeat(2_000)}` }, 400),
      { name: 'OAuthRefusal', error: 'invalid_grant' },
    ],
    ['invalid_client', json({ error: 'invalid_client' }, 401), { name: 'OAuthRefusal', error: 'invalid_client' }],
    [
      'a challenge',
      json({ error: 'invalid_client' }, 401, { 'www-authenticate': 'Basic realm="x"' }),
      { name: 'OAuthRefusal', error: 'invalid_client' },
    ],
    ['an unknown error code', json({ error: 'teapot' }, 418), { name: 'OAuthRefusal', error: 'teapot' }],
    ['too many requests', json({ error: 'slow_down' }, 429), { code: 'rate-limited' }],
    [
      'a gateway’s page',
      (response) => response.writeHead(502, { 'content-type': 'text/html' }).end('<h1>Bad gateway</h1>'),
      { code: 'connection-failed' },
    ],
    ['a server error in JSON', json({ error: 'server_error' }, 500), { code: 'connection-failed' }],
    [
      'a temporary error with status 400',
      json({ error: 'temporarily_unavailable' }, 400),
      { code: 'connection-failed' },
    ],
    ['a reset connection', (response) => response.destroy(), { code: 'connection-failed' }],
    [
      'a truncated response',
      (response) =>
        response.writeHead(200, { 'content-length': '500' }).write('{"access_token":"can', () => response.destroy()),
      { code: 'stream-broken' },
    ],
    [
      'a page with status 200',
      (response) => response.writeHead(200, { 'content-type': 'text/html' }).end(`<p>${GOOD.access_token}</p>`),
      { name: 'OAuthRefusal', error: 'invalid_response' },
    ],
    [
      'no token',
      json({ token_type: 'bearer', refresh_token: GOOD.refresh_token }),
      { name: 'OAuthRefusal', error: 'invalid_response' },
    ],
    [
      'a token of another type',
      json({ ...GOOD, token_type: 'mac' }),
      { name: 'OAuthRefusal', error: 'invalid_response' },
    ],
    [
      'a token that is bound to a key',
      json({ ...GOOD, token_type: 'DPoP' }),
      { name: 'OAuthRefusal', error: 'unsupported_token_type' },
    ],
    [
      'a redirect',
      (response) => response.writeHead(302, { location: 'https://evil.example/' }).end(),
      { name: 'OAuthRefusal', error: 'invalid_response' },
    ],
    ['an oversized response', json({ ...GOOD, padding: 'x'.repeat(1_000_000) }), { code: 'stream-broken' }],
    [
      'an error that quotes secrets',
      json({ error: 'invalid_grant', error_description: `token ${CANARY} and Bearer ${GOOD.access_token}` }, 400),
      { error: 'invalid_grant' },
    ],
  ];
  for (const [what, answer, expected] of ERRORS) {
    it(`causes the right error by responding with ${what}`, async () => {
      const thrown = await failure(refresh(answer));
      expect(thrown).to.include(expected);
      const everything = inspect(thrown, { depth: 10, showHidden: true });
      expect(everything).not.to.match(/canary-/i);
      expect(everything.length).to.be.lessThan(6_000);
    });
  }

  const MINUTE = 60;
  const ID_TOKENS: readonly (readonly [
    what: string,
    claims: () => Readonly<Record<string, unknown>>,
    isValid: boolean,
  ])[] = [
    ['that is valid', () => ({}), true],
    [
      'of a server whose clock is ten minutes ahead',
      () => ({ iat: now() + 10 * MINUTE, exp: now() + 70 * MINUTE }),
      true,
    ],
    [
      'of a server whose clock is ten minutes behind',
      () => ({ iat: now() - 11 * MINUTE, exp: now() - 10 * MINUTE }),
      true,
    ],
    ['that expired fifteen minutes ago', () => ({ iat: now() - 30 * MINUTE, exp: now() - 15 * MINUTE }), false],
    ['with the nonce of another flow', () => ({ nonce: 'another' }), false],
    ['without a nonce', () => ({ nonce: undefined }), false],
    ['for another app', () => ({ aud: 'another client' }), false],
    ['of another issuer', () => ({ iss: 'https://another.example' }), false],
  ];
  for (const [what, claims, isValid] of ID_TOKENS) {
    it(`${isValid ? 'may' : 'must not'} issue an ID token ${what}`, async () => {
      const all = {
        iss: host.url,
        aud: 'the client',
        sub: '1',
        iat: now(),
        exp: now() + 60 * MINUTE,
        nonce: 'the-nonce',
        ...claims(),
      };
      host.answer = json({
        ...GOOD,
        id_token: `${encoded({ alg: 'RS256' })}.${encoded(all)}.${encoded('a signature')}`,
      });
      const answer = {
        state: 's',
        nonce: 'the-nonce',
        codeVerifier: 'v'.repeat(43),
        redirectUri: 'https://app.example/oauth/callback',
        parameters: new URLSearchParams({ code: 'c', state: 's' }),
      };
      const exchange = server.exchange(client({ scopes: ['openid'] }), answer);
      if (isValid) expect(await exchange).to.include({ kind: 'bearer' });
      else expect(await failure(exchange)).to.have.property('error', 'invalid_response');
    });
  }

  it('receives a revocation request, for the refresh token if there is one', async () => {
    host.answer = (response) => response.writeHead(200).end();
    await server.revoke(client(), { accessToken: 'a', refreshToken: 'r' });
    expect(host.requests.at(-1)?.path).to.equal('/revoke');
    expect(new URLSearchParams(host.requests.at(-1)?.body).get('token')).to.equal('r');
    const before = host.requests.length;
    const { revocationEndpoint: _none, ...settings } = client().settings;
    await server.revoke({ settings }, { accessToken: 'a' });
    expect(host.requests, 'RFC 7009 is optional').to.have.length(before);
  });
});

/** Seconds since the epoch, as in tokens. */
function now(): number {
  return Math.floor(Date.now() / 1000);
}

function encoded(part: unknown): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
