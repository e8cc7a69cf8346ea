/**
 * Attacks on signing in at an OpenID provider: forged and foreign ID tokens, mixed-up issuers, codes and states that
 * are replayed or carried into another browser. Each has its control: the same sign-in without the lie succeeds.
 */
import { expect } from 'chai';
import { stub, useFakeTimers } from 'sinon';
import type { SinonStub } from 'sinon';
import type { RunningServer } from '../../imports/host/node/startServer';
import { CookieBrowser } from '../support/oauth/CookieBrowser';
import type { Page } from '../support/oauth/CookieBrowser';
import { isCallback, oidcEnvironment, sessionOf, signIn } from '../support/signIn/signInAtIssuer';
import { FOREIGN_KEY, TestIssuer } from '../support/signIn/TestIssuer';
import { sendRaw } from '../support/sendRaw';
import { startStandalone } from '../support/startStandalone';
import { allInSoak } from '../support/soak';

const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;
const now = (): number => Math.floor(Date.now() / 1_000);

describe('attacks on signing in at an OpenID provider', () => {
  let issuer: TestIssuer;
  let app: RunningServer;
  let host: string;
  let logged: SinonStub;
  before(async () => {
    issuer = await TestIssuer.start();
  });
  beforeEach(async () => {
    logged = stub(console, 'error');
    issuer.reset();
    app = await startStandalone(oidcEnvironment(issuer, { OIDC_USERS: '*', AUTH_FAILURES_PER_ADDRESS: '5' }));
    ({ host } = new URL(app.url));
  });
  afterEach(async () => {
    logged.restore();
    await app.close();
  });
  after(() => issuer.stop());

  const expectRefused = async (browser: CookieBrowser, page: Page, status: number, text: string): Promise<void> => {
    expect(page.body).to.contain(text);
    expect(page.status).to.equal(status);
    expect(page.headers.get('content-security-policy')).to.contain("default-src 'none'");
    expect(browser.cookieOf(host, 'bolide-session')).to.equal(undefined);
    expect(await sessionOf(app, browser)).to.equal(undefined);
  };
  const expectWorks = async (): Promise<void> => {
    issuer.reset();
    const browser = new CookieBrowser();
    await signIn(app, browser);
    expect(await sessionOf(app, browser), 'control').to.deep.include({ userId: 'oidc:ann' });
  };

  const LIES: Readonly<Record<string, (lying: TestIssuer) => void>> = {
    'another nonce': (lying) => (lying.claims = { nonce: 'another' }),
    'no nonce': (lying) => (lying.claims = { nonce: undefined }),
    'the audience of another client': (lying) => (lying.claims = { aud: 'another' }),
    'several audiences, authorized for another': (lying) =>
      (lying.claims = { aud: ['bolide', 'another'], azp: 'another' }),
    'another issuer': (lying) => (lying.claims = { iss: 'https://evil.example' }),
    'a time of expiry that has passed': (lying) => (lying.claims = { iat: now() - 900, exp: now() - 120 }),
    'no time of expiry': (lying) => (lying.claims = { exp: undefined }),
    'a time in the future from which on it is valid': (lying) => (lying.claims = { nbf: now() + 300 }),
    'no user': (lying) => (lying.claims = { sub: undefined }),
    'no signature': (lying) => (lying.key = 'none'),
    'no signature, although the issuer says that it sends none': (lying) => {
      lying.key = 'none';
      lying.metadata = { id_token_signing_alg_values_supported: ['RS256', 'none'] };
    },
    'a signature of another key': (lying) => (lying.key = FOREIGN_KEY),
    'a key that the issuer does not publish': (lying) => (lying.header = { kid: 'k2' }),
    'a signature with a shared secret': (lying) => {
      lying.header = { alg: 'HS256' };
      lying.metadata = { id_token_signing_alg_values_supported: ['RS256', 'HS256'] };
    },
  };
  for (const [lie, tell] of allInSoak(Object.entries(LIES), 4))
    it(`accept no ID token with ${lie}`, async () => {
      tell(issuer);
      const browser = new CookieBrowser();
      await expectRefused(browser, await signIn(app, browser), 502, 'cannot be trusted');
      await app.close();
      app = await startStandalone(oidcEnvironment(issuer, { OIDC_USERS: '*' }));
      await expectWorks();
    });

  it('accept no user info of somebody else', async () => {
    await app.close();
    app = await startStandalone(oidcEnvironment(issuer, { OIDC_USERS: '@example.com' }));
    ({ host } = new URL(app.url));
    issuer.userInfo = { sub: 'bob', email: 'bob@example.com', email_verified: true };
    const browser = new CookieBrowser();
    await expectRefused(browser, await signIn(app, browser), 502, 'cannot be trusted');
    issuer.userInfo = { email: 'ann@example.com', email_verified: true };
    await signIn(app, browser);
    expect(await sessionOf(app, browser), 'control').to.deep.include({ userId: 'oidc:ann' });
  });

  for (const [what, iss] of [
    ['another issuer', 'https://evil.example'],
    ['no issuer, of one that names itself', undefined],
  ] as const)
    it(`accept no callback of ${what}`, async () => {
      issuer.changeCallback = (parameters) => {
        if (iss === undefined) parameters.delete('iss');
        else parameters.set('iss', iss);
      };
      const browser = new CookieBrowser();
      await expectRefused(browser, await signIn(app, browser), 502, 'cannot be trusted');
      expect(issuer.requests, 'the code is sent nowhere').not.to.include('POST /token');
      await expectWorks();
    });

  it('accept a callback once', async () => {
    const browser = new CookieBrowser();
    const { url } = await browser.open(`${app.url}/sign-in`, isCallback);
    const cookie = browser.cookieOf(host, 'bolide-sign-in') ?? '';
    await browser.open(url);
    expect(await sessionOf(app, browser), 'control').to.deep.include({ userId: 'oidc:ann' });
    const thief = new CookieBrowser();
    thief.setCookie(host, 'bolide-sign-in', cookie);
    await expectRefused(thief, await thief.open(url), 400, 'already been used');
    expect(issuer.requests.filter((line) => line === 'POST /token')).to.have.length(1);
  });

  it('do not exchange the code of another flow', async () => {
    const [victim, attacker] = [new CookieBrowser(), new CookieBrowser()];
    const stolen = new URL((await victim.open(`${app.url}/sign-in`, isCallback)).url);
    const own = new URL((await attacker.open(`${app.url}/sign-in`, isCallback)).url);
    own.searchParams.set('code', stolen.searchParams.get('code') ?? '');
    await expectRefused(attacker, await attacker.open(own.href), 403, 'invalid_grant');
    await expectWorks();
  });

  it('complete no flow in another browser: nobody is signed in as the attacker', async () => {
    const [attacker, victim, starting] = [new CookieBrowser(), new CookieBrowser(), new CookieBrowser()];
    const { url } = await attacker.open(`${app.url}/sign-in`, isCallback);
    await expectRefused(victim, await victim.open(url), 403, 'Different browser');
    await starting.open(`${app.url}/sign-in`, isCallback);
    const kept = starting.cookieOf(host, 'bolide-sign-in');
    await expectRefused(starting, await starting.open(url), 403, 'Different browser');
    expect(starting.cookieOf(host, 'bolide-sign-in'), 'its own flow goes on').to.equal(kept);
    await attacker.open(url);
    expect(await sessionOf(app, attacker), 'control').to.deep.include({ userId: 'oidc:ann' });
  });

  it('accept no cookie that was changed, set twice, or made by another server', async () => {
    const other = await startStandalone(oidcEnvironment(issuer, { OIDC_USERS: '*', ROOT_URL: app.url }));
    try {
      const browser = new CookieBrowser();
      const { url } = await browser.open(`${app.url}/sign-in`, isCallback);
      const cookie = browser.cookieOf(host, 'bolide-sign-in') ?? '';
      const foreign = new CookieBrowser();
      const foreignUrl = (await foreign.open(`${other.url}/sign-in`, isCallback)).url;
      const foreignCookie = foreign.cookieOf(new URL(other.url).host, 'bolide-sign-in') ?? '';
      for (const [at, value] of [
        [url, `${cookie.slice(0, -1)}${cookie.endsWith('A') ? 'B' : 'A'}`],
        [url, `${cookie}; bolide-sign-in=${foreignCookie}`],
        [foreignUrl, foreignCookie],
      ] as const) {
        const thief = new CookieBrowser();
        thief.setCookie(host, 'bolide-sign-in', value);
        await expectRefused(thief, await thief.open(at), 403, 'Different browser');
      }
      await browser.open(url);
      expect(await sessionOf(app, browser), 'control').to.deep.include({ userId: 'oidc:ann' });
    } finally {
      await other.close();
    }
  });

  it('lead nowhere but to the dashboard', async () => {
    const browser = new CookieBrowser();
    const evil = encodeURIComponent('https://evil.example/');
    const query = `returnTo=${evil}&redirect=${evil}&next=${evil}&redirect_uri=${evil}&url=//evil.example`;
    const { url } = await browser.open(`${app.url}/sign-in?${query}`, isCallback);
    expect(url.startsWith(`${app.url}/sign-in/callback?`)).to.equal(true);
    const cookie = `bolide-sign-in=${browser.cookieOf(host, 'bolide-sign-in') ?? ''}`;
    const headers = { cookie, host: 'localhost', 'x-forwarded-host': 'evil.example' };
    const response = await fetch(`${url}&${query}`, { redirect: 'manual', headers });
    expect(response.status).to.equal(303);
    expect(response.headers.get('location')).to.equal(`${app.url}/`);
  });

  it('do not start where a page of another site leads, before a click', async () => {
    for (const site of ['cross-site', 'same-site']) {
      const browser = new CookieBrowser({ 'sec-fetch-site': site });
      const page = await browser.open(`${app.url}/sign-in`);
      expect(page.status).to.equal(200);
      expect(page.body).to.contain('Sign in with Acme?').and.contain('href="/sign-in"');
      expect(browser.cookieOf(host, 'bolide-sign-in')).to.equal(undefined);
    }
    expect(issuer.requests).not.to.include('GET /authorize');
  });

  it('are misdirected under a foreign host name, and leave nothing in the log', async () => {
    const { port } = new URL(app.url);
    for (const path of ['/sign-in', '/sign-in/callback?state=x']) {
      // Node's fetch takes no other Host.
      const { status, text } = await sendRaw(app.url, {
        head: `GET ${path} HTTP/1.1\r\nhost: evil.example:${port}\r\nconnection: close`,
      });
      expect(status, path).to.equal(421);
      expect(text).to.contain('<!doctype html>').and.contain('names another server');
    }
    expect(logged.args).to.deep.equal([]);
    expect(issuer.requests).to.deep.equal([]);
  });

  it('are reported once a minute while the provider is misconfigured', async () => {
    issuer.metadata = { authorization_endpoint: undefined };
    for (let times = 0; times < 5; times += 1) expect((await fetch(`${app.url}/sign-in`)).status).to.equal(500);
    expect(logged.callCount).to.equal(1);
    const clock = useFakeTimers({ now: Date.now() + 60_000, toFake: ['Date'] });
    await fetch(`${app.url}/sign-in`);
    clock.restore();
    expect(logged.callCount).to.equal(2);
  });

  it('show nothing of a callback but as text', async () => {
    issuer.changeCallback = (parameters) => {
      parameters.delete('code');
      parameters.set('error', 'access_denied');
      parameters.set('error_description', '<script>alert(1)</script>"\'');
    };
    const browser = new CookieBrowser();
    const page = await signIn(app, browser);
    await expectRefused(browser, page, 403, 'denied or cancelled');
    expect(page.body).not.to.contain('<script');
    expect(page.body).to.contain('alert(1)');
    const unknown = await browser.open(`${app.url}/sign-in/callback?state=<script>&error=<b>x</b>`);
    expect(unknown.status).to.equal(400);
    expect(unknown.body).not.to.match(/<script|<b>x/);
  });

  it('are not completed by HEAD, which uses nothing up', async () => {
    const browser = new CookieBrowser();
    const { url } = await browser.open(`${app.url}/sign-in`, isCallback);
    const headers = { cookie: `bolide-sign-in=${browser.cookieOf(host, 'bolide-sign-in') ?? ''}` };
    expect((await fetch(url, { method: 'HEAD', headers })).status).to.equal(405);
    expect((await fetch(url, { method: 'POST', headers })).status).to.equal(405);
    await browser.open(url);
    expect(await sessionOf(app, browser)).to.deep.include({ userId: 'oidc:ann' });
  });

  it('are limited by address, together with invalid tokens, and on record', async () => {
    const guess = (at: number): Promise<Response> =>
      fetch(`${app.url}/sign-in/callback?state=${String(at).padStart(43, 'x')}&code=y`);
    const statuses: number[] = [];
    for (let at = 0; at < 7; at += 1) statuses.push((await guess(at)).status);
    expect(statuses).to.deep.equal([403, 403, 403, 403, 403, 429, 429]);
    const refused = await guess(8);
    expect(Number(refused.headers.get('retry-after'))).to.be.within(1, 60);
    expect(refused.headers.get('content-type')).to.contain('text/html');
    const called = await fetch(`${app.url}/v1/models`, { headers: { authorization: 'Bearer another' } });
    expect(called.status).to.equal(429);
    expect(issuer.requests, 'costs the issuer nothing').to.deep.equal([]);
    await app.host.audit.settled();
    const { entries } = await app.host.operations['ai.audit.list'](ADMIN, { action: 'session.open' });
    expect(entries).to.have.length(5);
    expect(entries[0]?.details).to.deep.include({ reason: 'other-browser' });
  });

  it('learn nothing from a server whose provider is set up wrongly, but its log says what is wrong', async () => {
    issuer.metadata = { issuer: 'https://evil.example' };
    const page = await signIn(app);
    expect(page.status).to.equal(500);
    expect(page.body).to.contain('Its log says what is wrong').and.not.to.contain('does not publish');
    expect(String(logged.lastCall.args[0])).to.match(/^Nobody can sign in .* does not publish valid metadata/);
  });

  for (const endpoint of ['authorization_endpoint', 'token_endpoint', 'jwks_uri', 'userinfo_endpoint'])
    it(`accept no ${endpoint} over http at another host`, async () => {
      issuer.metadata = { [endpoint]: 'http://evil.example/' };
      const browser = new CookieBrowser();
      const page = await signIn(app, browser);
      expect(page.status).to.equal(500);
      expect(await sessionOf(app, browser)).to.equal(undefined);
    });

  it('reach no private address that the issuer names, unless the operator permits it', async () => {
    // The issuer is 127.0.0.1, as the operator has set.
    issuer.metadata = { jwks_uri: 'https://10.0.0.1/jwks' };
    const browser = new CookieBrowser();
    const page = await signIn(app, browser);
    expect(page.status).to.equal(500);
    expect(await sessionOf(app, browser)).to.equal(undefined);
  });
});
