/** Signing in to the dashboard at an OpenID provider: who may, as whom, with which rights, and for how long. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { AuditEntry } from '../../imports/business/ai/domain/types/AuditEntries';
import type { RunningServer } from '../../imports/host/node/startServer';
import type { Environment } from '../../imports/host/settings/environment';
import { CookieBrowser } from '../support/oauth/CookieBrowser';
import { newKey } from '../support/oauth/ProvidersHost';
import { isCallback, oidcEnvironment, sessionOf, signIn } from '../support/signIn/signInAtIssuer';
import { TestIssuer } from '../support/signIn/TestIssuer';
import { startStandalone } from '../support/startStandalone';
import { startTestMongo } from '../support/startTestMongo';
import { allInSoak } from '../support/soak';

const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;
const ANN = { sub: 'ann', email: 'Ann@Example.com', email_verified: true };
/** A server that is set up like this only. */
type Rules = Environment & { readonly [name: `OIDC_${string}`]: string };

describe('signing in at an OpenID provider', () => {
  let issuer: TestIssuer;
  let server: RunningServer | undefined;
  before(async () => {
    issuer = await TestIssuer.start();
  });
  beforeEach(() => issuer.reset());
  afterEach(async () => {
    await server?.close();
    server = undefined;
  });
  after(() => issuer.stop());

  const start = async (rules: Rules, more: Environment = {}): Promise<RunningServer> =>
    (server = await startStandalone(oidcEnvironment(issuer, { ...more, ...rules })));
  const entriesOf = async ({ host }: RunningServer): Promise<readonly AuditEntry[]> => {
    await host.audit.settled();
    return (await host.operations['ai.audit.list'](ADMIN, { action: 'session.open' })).entries;
  };

  it('opens the dashboard with a session of the user, and is on record', async () => {
    const app = await start({ OIDC_USERS: 'ann' });
    const browser = new CookieBrowser();
    const page = await signIn(app, browser);
    expect(page.url).to.equal(`${app.url}/`);
    expect(page.status).to.equal(200);
    expect(await sessionOf(app, browser)).to.deep.include({ userId: 'oidc:ann', isAdmin: false });
    const [entry] = await entriesOf(app);
    expect(entry).to.deep.include({ userId: 'oidc:ann', via: 'dashboard', outcome: 'done', address: '127.0.0.1' });
    expect(entry?.details).to.deep.equal({ method: 'OpenID Connect' });
  });

  it('tells admins, and nobody else, who the users are', async () => {
    const app = await start({ OIDC_USERS: 'ann' });
    issuer.claims = ANN;
    const browser = new CookieBrowser();
    await signIn(app, browser);
    const ask = (headers: Readonly<Record<string, string>>) =>
      fetch(`${app.url}/api/users/names`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ userIds: ['oidc:ann', `oidc:${'b'.repeat(255)}`, '\u0000'] }),
      });
    const names = await ask({ authorization: `Bearer ${app.token}` });
    expect(await names.json()).to.deep.equal({ names: [{ userId: 'oidc:ann', name: 'ann@example.com' }] });
    const found = await fetch(`${app.url}/api/budgets?search=ANN@`, {
      headers: { authorization: `Bearer ${app.token}` },
    });
    expect(((await found.json()) as { budgets: object[] }).budgets).to.have.nested.property('[0].userId', 'oidc:ann');
    const cookie = `bolide-session=${browser.cookieOf(new URL(app.url).host, 'bolide-session') ?? ''}`;
    const refused = await ask({ cookie, origin: app.url });
    expect(refused.status).to.equal(403);
    expect(await refused.text()).not.to.contain('example.com');
  });

  it('sends the configured redirect URI, PKCE, state and nonce, and binds the flow by a Lax cookie', async () => {
    const app = await start({ OIDC_USERS: 'ann' });
    const response = await fetch(`${app.url}/sign-in`, { redirect: 'manual', headers: { host: 'localhost:1' } });
    expect(response.status).to.equal(303);
    const url = new URL(response.headers.get('location') ?? '');
    expect(url.origin + url.pathname).to.equal(`${issuer.url}/authorize`);
    expect(Object.fromEntries(url.searchParams)).to.deep.include({
      response_type: 'code',
      client_id: 'bolide',
      redirect_uri: `${app.url}/sign-in/callback`,
      scope: 'openid profile email',
      code_challenge_method: 'S256',
    });
    for (const name of ['state', 'nonce', 'code_challenge'])
      expect(url.searchParams.get(name), name).to.match(/^[\w-]{43}$/);
    const cookie = response.headers.get('set-cookie') ?? '';
    expect(cookie).to.match(/^bolide-sign-in=[\w-]+\.[\w-]+; Max-Age=600; Path=\/sign-in; HttpOnly; SameSite=Lax$/);
    expect(cookie, 'sealed').not.to.contain(url.searchParams.get('state'));
  });

  it('has a cookie that no other host can set where the server is reached over https', async () => {
    const app = await start({ OIDC_USERS: 'ann' }, { ROOT_URL: 'https://bolide.example.com' });
    const response = await fetch(`${app.url}/sign-in`, { redirect: 'manual' });
    expect(response.headers.get('set-cookie')).to.match(/^__Host-bolide-sign-in=\S+; .*Path=\/; .*; Secure$/);
    const url = new URL(response.headers.get('location') ?? '');
    expect(url.searchParams.get('redirect_uri')).to.equal('https://bolide.example.com/sign-in/callback');
  });

  const CASES: readonly (readonly [
    what: string,
    rules: Rules,
    person: TestIssuer['person'],
    user: { readonly userId: string; readonly isAdmin: boolean } | undefined,
  ])[] = [
    ['an id among the users', { OIDC_USERS: 'bob, ann' }, ANN, { userId: 'oidc:ann', isAdmin: false }],
    ['an id with its prefix', { OIDC_USERS: 'oidc:ann' }, ANN, { userId: 'oidc:ann', isAdmin: false }],
    ['an id among the admins', { OIDC_ADMINS: 'ann' }, ANN, { userId: 'oidc:ann', isAdmin: true }],
    ['nobody who is not named', { OIDC_USERS: 'bob', OIDC_ADMINS: 'cat' }, ANN, undefined],
    ['everyone with *', { OIDC_USERS: '*' }, { sub: 'x|7' }, { userId: 'oidc:x|7', isAdmin: false }],
    ['a verified address', { OIDC_ADMINS: 'ann@example.com' }, ANN, { userId: 'oidc:ann', isAdmin: true }],
    [
      'no address that is not verified',
      { OIDC_USERS: 'ann@example.com' },
      { ...ANN, email_verified: false },
      undefined,
    ],
    [
      'no address whose verification is a text',
      { OIDC_USERS: 'ann@example.com' },
      { ...ANN, email_verified: 'true' },
      undefined,
    ],
    ['no id that looks like an address', { OIDC_ADMINS: 'ann@example.com' }, { sub: 'ann@example.com' }, undefined],
    ['a domain', { OIDC_USERS: '@example.com' }, ANN, { userId: 'oidc:ann', isAdmin: false }],
    ['no other domain', { OIDC_USERS: '@example.com' }, { ...ANN, email: 'ann@evil-example.com' }, undefined],
    ['no subdomain', { OIDC_USERS: '@example.com' }, { ...ANN, email: 'ann@evil.example.com' }, undefined],
    [
      'no two addresses in one',
      { OIDC_USERS: '@example.com' },
      { ...ANN, email: 'ann@evil.org\n@example.com' },
      undefined,
    ],
    [
      'a group of admins',
      { OIDC_ADMIN_GROUPS: 'ops', OIDC_USER_GROUPS: 'staff' },
      { ...ANN, groups: ['staff', 'ops'] },
      { userId: 'oidc:ann', isAdmin: true },
    ],
    [
      'a group in another claim',
      { OIDC_USER_GROUPS: 'staff', OIDC_GROUPS_CLAIM: 'roles' },
      { ...ANN, roles: 'staff', groups: [] },
      { userId: 'oidc:ann', isAdmin: false },
    ],
    ['no other group', { OIDC_USER_GROUPS: 'staff' }, { ...ANN, groups: ['staffing', 7] }, undefined],
    [
      'users by their address',
      { OIDC_USERS: '*', OIDC_USER_ID: 'email' },
      ANN,
      { userId: 'ann@example.com', isAdmin: false },
    ],
    [
      'no users by an address that is not verified',
      { OIDC_USERS: '*', OIDC_USER_ID: 'email' },
      { ...ANN, email_verified: false },
      undefined,
    ],
    ['no id with invisible characters', { OIDC_USERS: '*' }, { sub: 'ann\u200b' }, undefined],
  ];
  for (const [what, rules, person, user] of allInSoak(CASES, 4))
    it(`admits ${what}`, async () => {
      const app = await start(rules);
      issuer.person = person;
      const browser = new CookieBrowser();
      const page = await signIn(app, browser);
      const session = await sessionOf(app, browser);
      if (user !== undefined) {
        expect(session, page.body).to.deep.include(user);
        return;
      }
      expect(session).to.equal(undefined);
      expect(page.status).to.be.oneOf([403, 502]);
      expect(page.body).to.contain('Sign in again');
      const [entry] = await entriesOf(app);
      expect(entry).to.deep.include({ userId: '', outcome: 'refused', error: 'auth-failed' });
      expect(entry?.details?.['reason']).to.be.oneOf(['not-allowed', 'email-not-verified', 'invalid-response']);
    });

  it('says to somebody who is refused as whom they are known, and records it', async () => {
    const app = await start({ OIDC_USERS: 'bob' });
    const page = await signIn(app);
    expect(page.status).to.equal(403);
    expect(page.body).to.contain('You may not sign in here').and.contain('“oidc:ann”');
    const [entry] = await entriesOf(app);
    expect(entry?.subject).to.deep.equal({ kind: 'session', ownerId: 'oidc:ann' });
  });

  it('asks the user info endpoint for claims that the ID token lacks, and never mixes two addresses', async () => {
    const app = await start({ OIDC_USERS: '@example.com' });
    issuer.userInfo = { email: 'ann@example.com', email_verified: true };
    const browser = new CookieBrowser();
    await signIn(app, browser);
    expect(await sessionOf(app, browser)).to.deep.include({ userId: 'oidc:ann' });
    issuer.person = { sub: 'ann', email_verified: true };
    issuer.userInfo = { email: 'ann@example.com' };
    expect((await signIn(app)).status).to.equal(403);
  });

  it('lets users do what people do who logged in, and admins everything', async () => {
    const app = await start({ OIDC_USERS: 'ann', OIDC_ADMINS: 'root' });
    const [ann, root] = [new CookieBrowser(), new CookieBrowser()];
    await signIn(app, ann);
    issuer.person = { sub: 'root' };
    await signIn(app, root);
    const statusOf = async (browser: CookieBrowser, path: string): Promise<number> =>
      (await browser.open(app.url + path)).status;
    for (const path of ['/api/runs', '/api/tokens', '/api/providers'])
      expect(await statusOf(ann, path), path).to.equal(200);
    expect(await statusOf(ann, '/metrics')).to.equal(403);
    expect(await statusOf(root, '/metrics')).to.equal(200);
    const lookUp = app.host.providers.findUser;
    expect(await lookUp('oidc:ann')).to.deep.include({ userId: 'oidc:ann', isAdmin: false });
    expect(await lookUp('oidc:root')).to.deep.include({ userId: 'oidc:root', isAdmin: true });
    expect(await lookUp('oidc:bob')).to.equal(undefined);
  });

  it('makes a person the user of API tokens only where the operator chose addresses as ids', async () => {
    const app = await start({ OIDC_USERS: '*', OIDC_USER_ID: 'email' });
    issuer.person = ANN;
    const browser = new CookieBrowser();
    await signIn(app, browser);
    await app.host.apiTokens.tokens.issue({ userId: 'ann@example.com', name: 'hers', scopes: ['read'] });
    await app.host.apiTokens.tokens.issue({ userId: 'ann', name: 'another', scopes: ['read'] });
    const { tokens } = JSON.parse((await browser.open(`${app.url}/api/tokens`)).body) as {
      readonly tokens: readonly { readonly name: string }[];
    };
    expect(tokens.map(({ name }) => name)).to.deep.equal(['hers']);
  });

  it('replaces the session that the browser had when it started', async () => {
    const app = await start({ OIDC_USERS: 'ann' });
    const browser = new CookieBrowser();
    const { host } = new URL(app.url);
    const response = await fetch(`${app.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: app.token }),
    });
    const cookie = /bolide-session=([^;]+)/.exec(response.headers.get('set-cookie') ?? '')?.[1] ?? '';
    browser.setCookie(host, 'bolide-session', cookie);
    expect(await sessionOf(app, browser)).to.deep.include({ userId: 'local' });
    const stopped = await browser.open(`${app.url}/sign-in`, isCallback);
    // A Strict cookie does not come back from another site.
    const returning = new CookieBrowser();
    returning.setCookie(host, 'bolide-sign-in', browser.cookieOf(host, 'bolide-sign-in') ?? '');
    await returning.open(stopped.url);
    expect(await sessionOf(app, returning)).to.deep.include({ userId: 'oidc:ann' });
    expect(await sessionOf(app, browser), 'the old session').to.equal(undefined);
  });

  describe('with rules that change', () => {
    let directory: string;
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-sign-in-'));
    });
    afterEach(() => rm(directory, { recursive: true, force: true }));

    /** Two servers, one after the other, at the same address for the browser. */
    const restart = async (rules: Rules): Promise<RunningServer> => {
      await server?.close();
      return start(rules, { DATA_DIR: directory });
    };
    const moved = (browser: CookieBrowser, from: RunningServer, to: RunningServer): void =>
      browser.setCookie(
        new URL(to.url).host,
        'bolide-session',
        browser.cookieOf(new URL(from.url).host, 'bolide-session') ?? '',
      );

    it('ends sessions of users who are no longer admitted, and changes the rights of others', async () => {
      const browser = new CookieBrowser();
      const first = await restart({ OIDC_ADMINS: 'ann' });
      await signIn(first, browser);
      expect(await sessionOf(first, browser)).to.deep.include({ isAdmin: true });
      const second = await restart({ OIDC_USERS: 'ann' });
      moved(browser, first, second);
      expect(await sessionOf(second, browser)).to.deep.include({ userId: 'oidc:ann', isAdmin: false });
      const third = await restart({ OIDC_USERS: 'bob' });
      moved(browser, second, third);
      expect(await sessionOf(third, browser)).to.equal(undefined);
      expect(await third.host.providers.findUser('oidc:ann')).to.equal(undefined);
    });

    it('ends sessions where ids are no longer the same, and where nobody signs in there any more', async () => {
      issuer.person = ANN;
      const browser = new CookieBrowser();
      const first = await restart({ OIDC_USERS: '*' });
      await signIn(first, browser);
      const second = await restart({ OIDC_USERS: '*', OIDC_USER_ID: 'email' });
      moved(browser, first, second);
      expect(await sessionOf(second, browser)).to.equal(undefined);
      await second.close();
      server = await startStandalone({ DATA_DIR: directory });
      moved(browser, first, server);
      expect(await sessionOf(server, browser)).to.equal(undefined);
    });

    it('ends sessions of another issuer', async () => {
      const other = await TestIssuer.start();
      try {
        const browser = new CookieBrowser();
        const first = await restart({ OIDC_USERS: '*' });
        await signIn(first, browser);
        const second = await restart({ OIDC_USERS: '*', OIDC_ISSUER: other.url });
        moved(browser, first, second);
        expect(await sessionOf(second, browser)).to.equal(undefined);
      } finally {
        await other.stop();
      }
    });

    it('ends sessions of API tokens with OIDC_ONLY, and opens no more', async () => {
      const token = 'a-token-of-the-server-operator';
      const open = (app: RunningServer): Promise<Response> =>
        fetch(`${app.url}/api/session`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ token }),
        });
      const first = await start({ OIDC_USERS: 'ann' }, { DATA_DIR: directory, BOLIDE_API_TOKEN: token });
      const cookie = ((await open(first)).headers.get('set-cookie') ?? '').split(';')[0] ?? '';
      await first.close();
      const second = await start(
        { OIDC_USERS: 'ann', OIDC_ONLY: 'true' },
        { DATA_DIR: directory, BOLIDE_API_TOKEN: token },
      );
      expect((await fetch(`${second.url}/api/session`, { headers: { cookie } })).status).to.equal(401);
      const refused = await open(second);
      expect(refused.status).to.equal(403);
      expect(await refused.text()).to.contain('sign in with Acme');
      const called = await fetch(`${second.url}/v1/models`, { headers: { authorization: `Bearer ${token}` } });
      expect(called.status, 'the token as such').to.equal(200);
    });
  });

  it('gives the rights of the last sign-in to all sessions of the user', async () => {
    const app = await start({ OIDC_ADMIN_GROUPS: 'ops', OIDC_USERS: '*' });
    issuer.person = { sub: 'ann', groups: ['ops'] };
    const [home, office] = [new CookieBrowser(), new CookieBrowser()];
    await signIn(app, home);
    issuer.person = { sub: 'ann', groups: [] };
    await signIn(app, office);
    await home.open(`${app.url}/api/session`);
    // What changes something is decided anew.
    const response = await fetch(`${app.url}/api/secrets/rotate`, {
      method: 'POST',
      headers: {
        cookie: `bolide-session=${home.cookieOf(new URL(app.url).host, 'bolide-session') ?? ''}`,
        origin: app.url,
        'sec-fetch-site': 'same-origin',
      },
    });
    expect(response.status).to.equal(403);
  });

  it('is forgotten with the user’s data', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-sign-in-'));
    try {
      const app = await start({ OIDC_USERS: '*' }, { DATA_DIR: directory });
      issuer.person = ANN;
      const browser = new CookieBrowser();
      await signIn(app, browser);
      const deleted = await app.host.deleteUserData('oidc:ann');
      expect(deleted).to.deep.include({ identities: 1, sessions: 1 });
      expect(await sessionOf(app, browser)).to.equal(undefined);
    } finally {
      await server?.close();
      server = undefined;
      await rm(directory, { recursive: true, force: true });
    }
  });

  it('ends the session at the provider, too, where that is set', async () => {
    const signOut = async (app: RunningServer): Promise<Response> => {
      const browser = new CookieBrowser();
      await signIn(app, browser);
      const cookie = `bolide-session=${browser.cookieOf(new URL(app.url).host, 'bolide-session') ?? ''}`;
      return fetch(`${app.url}/api/session`, {
        method: 'DELETE',
        headers: { cookie, 'sec-fetch-site': 'same-origin' },
      });
    };
    const first = await start({ OIDC_USERS: 'ann' });
    expect((await signOut(first)).status).to.equal(204);
    await first.close();
    const app = await start({ OIDC_USERS: 'ann', OIDC_SIGN_OUT: 'true' });
    const response = await signOut(app);
    const { signOutUrl } = (await response.json()) as { readonly signOutUrl: string };
    const url = new URL(signOutUrl);
    expect(url.origin + url.pathname).to.equal(`${issuer.url}/end`);
    expect(Object.fromEntries(url.searchParams)).to.deep.equal({
      client_id: 'bolide',
      post_logout_redirect_uri: `${app.url}/`,
    });
  });

  it('reads metadata and keys of the provider once for many sign-ins', async () => {
    const app = await start({ OIDC_USERS: '*' });
    for (let count = 0; count < 3; count += 1) await signIn(app);
    const count = (line: string): number => issuer.requests.filter((each) => each === line).length;
    expect(count('GET /.well-known/openid-configuration')).to.equal(1);
    expect(count('GET /jwks')).to.equal(1);
    expect(count('POST /token')).to.equal(3);
  });

  it('says so where the provider cannot be reached, and works again when it can', async () => {
    const app = await start({ OIDC_USERS: '*' });
    issuer.isDown = true;
    const page = await signIn(app);
    expect(page.status).to.equal(502);
    expect(page.body).to.contain('Acme: It can’t be reached');
    issuer.isDown = false;
    const browser = new CookieBrowser();
    await signIn(app, browser);
    expect(await sessionOf(app, browser)).to.deep.include({ userId: 'oidc:ann' });
  });

  it('is shared by the processes on a database: the flow, its single use, and the session', async () => {
    const mongo = await startTestMongo();
    const keys = { AI_SECRET_KEYS: newKey('k1'), MONGO_URL: mongo.url };
    const first = await startStandalone(oidcEnvironment(issuer, { ...keys, OIDC_USERS: '*' }));
    const second = await startStandalone(oidcEnvironment(issuer, { ...keys, OIDC_USERS: '*', ROOT_URL: first.url }));
    try {
      const { host } = new URL(first.url);
      const browser = new CookieBrowser();
      const started = await browser.open(`${second.url}/sign-in`, isCallback);
      expect(started.url).to.contain(first.url);
      const cookie = browser.cookieOf(new URL(second.url).host, 'bolide-sign-in') ?? '';
      browser.setCookie(host, 'bolide-sign-in', cookie);
      await browser.open(started.url);
      expect(await sessionOf(first, browser)).to.deep.include({ userId: 'oidc:ann' });
      const session = browser.cookieOf(host, 'bolide-session') ?? '';
      browser.setCookie(new URL(second.url).host, 'bolide-session', session);
      expect(await sessionOf(second, browser)).to.deep.include({ userId: 'oidc:ann' });
      const again = new CookieBrowser();
      again.setCookie(new URL(second.url).host, 'bolide-sign-in', cookie);
      const repeated = await again.open(started.url.replace(first.url, second.url));
      expect(repeated.body).to.contain('This page has already been used');
    } finally {
      await first.close();
      await second.close();
      await mongo.stop();
    }
  });
});
