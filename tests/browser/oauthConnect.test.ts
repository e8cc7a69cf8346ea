/** Connects an account in a real browser: from the app's link through the authorization server to the result page. */
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import { TestAuthorizationServer } from '../support/oauth/TestAuthorizationServer';
import { createProvider, PROVIDER_ID } from '../support/oauth/connectedProvider';
import { ALICE, BOB, ProvidersHost } from '../support/oauth/ProvidersHost';
import { withBrowser } from '../support/withBrowser';

describe('connecting an account in Chromium', () => {
  let app: ProvidersHost;
  let server: TestAuthorizationServer;
  let browser: Browser;
  let context: BrowserContext;
  let page: Page;
  let consoleErrors: string[];
  withBrowser(async (opened) => {
    browser = opened;
    app = await ProvidersHost.start();
    server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    await createProvider(app, server);
  });
  after(async () => {
    await (app as ProvidersHost | undefined)?.stop();
    await (server as TestAuthorizationServer | undefined)?.stop();
  });
  beforeEach(async () => {
    context = await browser.newContext();
    page = await context.newPage();
    consoleErrors = [];
    page.on('console', (message) => {
      if (message.type() === 'error' && page.url().startsWith(app.url)) consoleErrors.push(message.text());
    });
    page.on('pageerror', (error) => consoleErrors.push(error.message));
  });
  afterEach(() => context.close());

  const signIn = async (login: string): Promise<void> => {
    await page.fill('input[name=login]', login);
    await page.fill('input[name=password]', 'any');
    await page.click('button[type=submit]');
    await page.waitForSelector('input[name=prompt][value=consent]', { state: 'attached' });
    await page.click('button[type=submit]');
  };

  it('shows for whom, signs in and consents at the server, and confirms the connection', async () => {
    await page.goto(await app.operations['ai.providers.connect'](ALICE, { providerId: PROVIDER_ID }));
    expect(await page.textContent('h1')).to.equal('Connect Acme?');
    expect(await page.textContent('main')).to.include('alice');
    await page.click('button');
    await page.waitForURL(`${server.url}/**`);
    await signIn('alice@acme');
    await page.waitForURL(`${app.url}/oauth/callback**`);
    expect(await page.textContent('h1')).to.equal('Connected');
    expect(
      await page.evaluate(() => getComputedStyle(document.querySelector('main')!).maxWidth),
      'the policy allows the style',
    ).not.to.equal('none');
    expect((await app.module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'alice' }))?.kind).to.equal(
      'bearer',
    );
    await page.reload();
    expect(await page.textContent('h1')).to.equal('This page has already been used');
    await page.click('a');
    expect(page.url()).to.equal(`${app.url}/`);
    expect(consoleErrors.filter((text) => /Content Security Policy|Refused/.test(text))).to.deep.equal([]);
  });

  it('does not complete a flow in another browser than the one that started it', async () => {
    await page.goto(await app.operations['ai.providers.connect'](BOB, { providerId: PROVIDER_ID }));
    await page.click('button');
    await page.waitForURL(`${server.url}/**`);
    const link = server.paths.findLast((path) => path.startsWith('/auth?')) ?? '';
    const other = await browser.newContext();
    page = await other.newPage();
    await page.goto(server.url + link);
    await signIn('victim@acme');
    await page.waitForURL(`${app.url}/oauth/callback**`);
    expect(await page.textContent('h1')).to.equal('Different browser');
    expect(await app.credentials.find({ userId: 'bob' })).to.deep.equal([]);
    await other.close();
  });

  it('shows markup in an error description as text', async () => {
    const hostile = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>';
    await page.setContent(hostile);
    await page.waitForFunction('window.hacked === 1');
    expect(await page.evaluate('window.hacked'), 'control: as markup, it runs').to.equal(1);
    const binding = 'a-binding-of-the-dashboard-0123456789';
    const link = new URL(await app.operations['ai.providers.connect'](ALICE, { providerId: PROVIDER_ID, binding }));
    await context.addCookies([{ name: 'bolide-oauth', value: binding, url: app.url }]);
    const answer = new URLSearchParams({
      state: link.searchParams.get('state') ?? '',
      iss: server.url,
      error: 'access_denied',
      error_description: hostile,
    });
    await page.goto(`${app.url}/oauth/callback?${answer.toString()}`);
    expect(await page.textContent('h1')).to.equal('Not connected');
    expect(await page.textContent('q')).to.include('window.hacked=1');
    expect(await page.evaluate('window.hacked')).to.equal(undefined);
  });
});
