/**
 * Connecting an account where the authorization server and the app share a site, such as two hosts of a company or two
 * ports of this machine: browsers then send the dashboard's Strict cookie with the callback, too.
 */
import { expect } from 'chai';
import type { RunningServer } from '../../imports/host/node/startServer';
import { atCallback, providerArgument } from '../support/oauth/connectedProvider';
import { CookieBrowser } from '../support/oauth/CookieBrowser';
import { TestAuthorizationServer } from '../support/oauth/TestAuthorizationServer';
import { startStandalone } from '../support/startStandalone';

const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;

describe('an OAuth callback from the same site', () => {
  let app: RunningServer;
  let server: TestAuthorizationServer;
  before(async () => {
    app = await startStandalone({ AI_ALLOW_PRIVATE_HOSTS: 'true' });
    server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`] });
    await app.host.operations['ai.providers.create'](ADMIN, providerArgument(server));
  });
  after(async () => {
    await app.close();
    await server.stop();
  });

  const signIn = async (): Promise<CookieBrowser> => {
    const browser = new CookieBrowser();
    const response = await fetch(`${app.url}/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ token: app.token }),
    });
    const [cookie = ''] = (response.headers.get('set-cookie') ?? '').split(';');
    browser.setCookie(new URL(app.url).host, 'bolide-session', cookie.slice(cookie.indexOf('=') + 1));
    return browser;
  };

  it('connects the account of the signed-in user', async () => {
    const browser = await signIn();
    const stopped = await browser.authorize(
      await browser.open(`${app.url}/oauth/acme/start`, atCallback),
      'local@acme',
      atCallback,
    );
    expect(stopped.url).to.contain('/oauth/callback');
    browser.headers['sec-fetch-site'] = 'same-site';
    const page = await browser.open(stopped.url);
    expect(page.status, page.body).to.equal(200);
    expect(page.body).to.contain('Your Acme account is connected');
    const { entries } = await app.host.operations['ai.audit.list'](ADMIN, { action: 'provider.connect' });
    expect(entries).to.have.length(1);
    expect(entries[0]).to.deep.include({
      ...{ userId: 'local', via: 'dashboard', outcome: 'done', address: '127.0.0.1' },
      subject: { kind: 'provider', id: 'acme' },
    });
  });

  it('is not completed in a browser that did not start it, although that is signed in', async () => {
    const [victim, attacker] = [await signIn(), await signIn()];
    const stopped = await attacker.authorize(
      await attacker.open(`${app.url}/oauth/acme/start`, atCallback),
      'attacker@acme',
      atCallback,
    );
    victim.headers['sec-fetch-site'] = 'same-site';
    expect((await victim.open(stopped.url)).status).to.equal(403);
    const { total } = await app.host.operations['ai.audit.list'](ADMIN, { action: 'provider.connect' });
    expect(total, 'connected only once').to.equal(1);
  });

  it('starts nothing for a page of another origin on the same site', async () => {
    const browser = await signIn();
    browser.headers['sec-fetch-site'] = 'same-site';
    const page = await browser.open(`${app.url}/oauth/acme/start`);
    expect(page.status).to.equal(401);
    expect(browser.visited.filter((url) => url.startsWith(server.url))).to.deep.equal([]);
  });
});
