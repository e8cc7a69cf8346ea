/** Signs in to the dashboard at a certified OpenID provider in a real browser, on two servers that share a database. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { RunningServer } from '../../imports/host/node/startServer';
import { newKey } from '../support/oauth/ProvidersHost';
import { CLIENT, TestAuthorizationServer } from '../support/oauth/TestAuthorizationServer';
import { startStandalone } from '../support/startStandalone';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { withBrowser } from '../support/withBrowser';

const TOKEN = 'a-token-of-the-server-operator';

describe('signing in with OpenID Connect in Chromium', () => {
  let mongo: TestMongo;
  let issuer: TestAuthorizationServer;
  let apps: readonly RunningServer[] = [];
  /** URLs of another site than the issuer's, which is 127.0.0.1. */
  let urls: readonly string[];
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let problems: string[];

  withBrowser(async (opened) => {
    browser = opened;
    mongo = await startTestMongo();
    const ports = [await freePort(), await freePort()];
    urls = ports.map((port) => `http://localhost:${port}`);
    const [root = ''] = urls;
    issuer = await TestAuthorizationServer.start({ redirectUris: [`${root}/sign-in/callback`] });
    const env = {
      MONGO_URL: mongo.url,
      AI_SECRET_KEYS: newKey('k1'),
      BOLIDE_API_TOKEN: TOKEN,
      ROOT_URL: root,
      OIDC_ISSUER: issuer.url,
      OIDC_CLIENT_ID: CLIENT.id,
      OIDC_CLIENT_SECRET: CLIENT.secret,
      OIDC_NAME: 'Acme',
      OIDC_USERS: 'ann',
      OIDC_ADMINS: 'root',
    };
    apps = [
      await startStandalone({ ...env, PORT: String(ports[0]) }),
      await startStandalone({ ...env, PORT: String(ports[1]), OIDC_ONLY: 'true' }),
    ];
  });
  after(async () => {
    for (const app of apps) await app.close();
    await (issuer as TestAuthorizationServer | undefined)?.stop();
    await (mongo as TestMongo | undefined)?.stop();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    page.setDefaultTimeout(120_000);
    problems = [];
    page.on('console', (message) => {
      if (/Content Security Policy|Refused/.test(message.text()) && page.url().startsWith('http://localhost'))
        problems.push(message.text());
    });
    page.on('pageerror', (error) => problems.push(error.message));
  });
  afterEach(async () => {
    await context.close();
    expect(problems).to.deep.equal([]);
  });

  const authorizeAs = async (login: string): Promise<void> => {
    await page.waitForURL(`${issuer.url}/**`);
    await page.fill('input[name=login]', login);
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
    await page.click('button[type=submit]');
  };
  const me = (): Promise<unknown> => page.evaluate(async () => (await fetch('/me')).json() as Promise<unknown>);

  it('opens the dashboard of every server on the database, until the user signs out', async () => {
    await page.goto(urls[0] ?? '');
    await page.click('a:text("Sign in with Acme")');
    await authorizeAs('ann');
    await page.waitForSelector('h1:text("Overview")');
    expect(page.url()).to.match(/^http:\/\/localhost:\d+\/(?:#\/)?$/);
    expect(await me()).to.deep.include({ userId: 'oidc:ann', isAdmin: false });
    const other = await context.newPage();
    await other.goto(urls[1] ?? '');
    await other.waitForSelector('h1:text("Overview")');
    await page.click('[aria-label="Sign out"]');
    await page.waitForSelector('a:text("Sign in with Acme")');
    await other.reload();
    await other.waitForSelector('a:text("Sign in with Acme")');
    expect(await other.locator('input[type=password]').count(), 'OIDC_ONLY').to.equal(0);
    expect(await page.locator('input[type=password]').count()).to.equal(1);
  });

  it('ends the session that the browser had before', async () => {
    await page.goto(`${urls[0] ?? ''}/#token=${TOKEN}`);
    await page.waitForSelector('h1:text("Overview")');
    expect(await me()).to.deep.include({ userId: 'local', isAdmin: true });
    const [before] = (await context.cookies(urls[0])).filter(({ name }) => name === 'bolide-session');
    await page.goto(`${urls[0] ?? ''}/sign-in`);
    await authorizeAs('root');
    await page.waitForSelector('h1:text("Overview")');
    expect(await me()).to.deep.include({ userId: 'oidc:root', isAdmin: true });
    const cookie = `bolide-session=${before?.value ?? ''}`;
    expect((await fetch(`${apps[0]?.url ?? ''}/session`, { headers: { cookie } })).status).to.equal(401);
    expect((await context.cookies(`${urls[0] ?? ''}/sign-in`)).map(({ name }) => name)).to.deep.equal([
      'bolide-session',
    ]);
  });

  it('asks before it starts where a page of another site leads', async () => {
    await page.goto(`${issuer.url}/.well-known/openid-configuration`);
    await page.evaluate((url) => location.assign(url), `${urls[0] ?? ''}/sign-in`);
    await page.waitForSelector('h1:text("Sign in with Acme?")');
    await page.click('a:text("Sign in with Acme")');
    await authorizeAs('ann');
    await page.waitForSelector('h1:text("Overview")');
  });

  it('says who was refused, and offers to try again', async () => {
    await page.goto(`${urls[0] ?? ''}/sign-in`);
    await authorizeAs('eve');
    await page.waitForSelector('h1:text("You may not sign in here")');
    expect(await page.textContent('main')).to.contain('“oidc:eve”');
    await page.click('a:text("Back to the app")');
    await page.waitForSelector('a:text("Sign in with Acme")');
  });
});

/** The root URL has to be known before the server starts. */
async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}
