/** Signing in at MCP servers in a browser, from the page of the dashboard through the authorization server and back. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { failure } from '../support/failure';
import { serveProtected } from '../support/mcp/serveProtected';
import type { ProtectedServer } from '../support/mcp/serveProtected';
import { until } from '../support/until';
import { withDashboard } from '../support/withDashboard';

const ADMIN = 'local';
const ANN = 'ann';

const contextOf = (userId: string): ToolCallContext => ({
  signal: new AbortController().signal,
  ...{ userId, callId: 'c', executionId: 'e', idempotencyKey: 'e:c' },
  progress: () => undefined,
});

describe('signing in at MCP servers in the dashboard', () => {
  let app: DashboardBrowser;
  let token: string;
  const servers: ProtectedServer[] = [];
  const contexts: BrowserContext[] = [];
  withDashboard(
    async (started) => {
      app = started;
      const { tokens } = app.server.host.apiTokens;
      ({ token } = await tokens.issue({ userId: ANN, name: 'browser', scopes: ['generate', 'read', 'approve'] }));
    },
    { env: { AI_ALLOW_PRIVATE_HOSTS: '127.0.0.1' } },
  );
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });
  after(async () => {
    for (const server of servers) await server.close();
  });

  const serve = async (): Promise<ProtectedServer> => {
    const server = await serveProtected();
    servers.push(server);
    return server;
  };
  const openAs = async (credential: string, path = '/mcp-servers'): Promise<Page> => {
    const { context, page } = await app.newVisitor();
    contexts.push(context);
    await page.goto(`${app.server.url}/#token=${credential}`);
    await page.waitForSelector('h1:text("Overview")');
    await app.go(page, path);
    return page;
  };
  const addServer = async (page: Page, name: string, url: string, accounts: 'user' | 'shared'): Promise<void> => {
    await page.getByRole('button', { name: 'Add server' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(name);
    await dialog.getByLabel('URL').fill(url);
    await dialog.getByRole('button', { name: 'Test' }).click();
    expect(await dialog.getByRole('alert').textContent()).to.include('sign-in');
    await dialog.getByLabel('Who signs in').selectOption(accounts);
    await dialog.getByRole('button', { name: 'Save server' }).click();
    await dialog.waitFor({ state: 'detached' });
  };
  const accountOf = (page: Page, name: string) => page.locator(`[data-mcp-account="${name}"]`);
  const goToIssuer = async (page: Page, name: string, server: ProtectedServer): Promise<void> => {
    await accountOf(page, name)
      .getByRole('button', { name: /^Sign in/ })
      .click();
    await page.waitForURL(`${server.issuer}/authorize**`);
  };
  const signIn = async (page: Page, name: string, server: ProtectedServer, login: string): Promise<void> => {
    await goToIssuer(page, name, server);
    await page.fill('input[name=login]', login);
    await page.getByRole('button', { name: 'allow' }).click();
    await page.waitForSelector('h1:text("Connected")');
    await page.getByRole('link').click();
  };
  const call = async (name: string, userId: string): Promise<unknown> =>
    app.server.host.module.tools.execute(`${name}_ping`, {}, contextOf(userId));
  const isOffered = (name: string): boolean => app.server.host.module.tools.hasToolFunction(`${name}_ping`);

  it('adds a server at which each user signs in, and approves its tool, also when it has changed', async () => {
    const server = await serve();
    const admin = await openAs(TOKEN);
    await addServer(admin, 'docs', server.url, 'user');
    await admin.locator('[data-mcp-server="docs"]').getByText('Sign-in needed').waitFor();
    await admin.getByRole('link', { name: 'docs', exact: true }).click();
    await admin.getByText('Not signed in').waitFor();
    await signIn(admin, 'docs', server, 'root');
    // Back on the server's page.
    await accountOf(admin, 'docs').getByRole('button', { name: 'Sign out' }).waitFor();
    await admin.getByRole('button', { name: 'Approve: ping' }).click();
    await until(() => isOffered('docs'));
    expect(await failure(call('docs', ANN)))
      .to.have.property('message')
      .that.includes('sign in');

    const ann = await openAs(token);
    await signIn(ann, 'docs', server, 'ann-at-docs');
    await accountOf(ann, 'docs')
      .getByText(/^Signed in /)
      .waitFor();
    expect(await call('docs', ANN)).to.equal('token of ann-at-docs');
    expect(await call('docs', ADMIN)).to.equal('token of root');

    server.description = 'Says whose account it is called with, and sends it to everybody.';
    await admin.getByRole('button', { name: 'Reconnect' }).click();
    const tool = admin.locator('[data-mcp-tool="ping"]');
    await tool.getByText('Changed', { exact: true }).waitFor();
    expect(await tool.locator('ins').allTextContents()).to.deep.equal([', and sends it to everybody']);
    expect(isOffered('docs')).to.equal(false);
    await admin.getByRole('button', { name: 'Approve: ping' }).click();
    await until(() => isOffered('docs'));
    expect(await call('docs', ANN)).to.equal('token of ann-at-docs');

    server.requiredScope = 'docs:write';
    const run = await app.startRun('docs_ping', ['docs_ping']);
    await app.go(admin, `/runs/${run}`);
    const decision = admin.getByRole('region', { name: 'docs_ping needs approval' });
    await decision.getByText('docs:write').waitFor();
    await decision.getByRole('link', { name: 'Your account at docs' }).click();
    await accountOf(admin, 'docs').getByText('docs:write').waitFor();
    await signIn(admin, 'docs', server, 'root');
    await accountOf(admin, 'docs').getByText('docs:write').waitFor({ state: 'detached' });
    await app.go(admin, `/runs/${run}`);
    await decision.getByRole('button', { name: 'Approve', exact: true }).click();
    await app.waitForEvent(run, 'run:completed');
    expect(server.tokensSeen.at(-1)).to.equal('token of root');
    server.requiredScope = undefined;

    await accountOf(ann, 'docs').getByRole('button', { name: 'Sign out' }).click();
    await accountOf(ann, 'docs').getByText('Not signed in').waitFor();
    expect([...server.revoked]).to.deep.equal(['token of ann-at-docs']);
    expect(await failure(call('docs', ANN)))
      .to.have.property('message')
      .that.includes('sign in');
    expect(await call('docs', ADMIN)).to.equal('token of root');
  });

  it('has an administrator sign in for all users', async () => {
    const server = await serve();
    const admin = await openAs(TOKEN);
    await addServer(admin, 'team', server.url, 'shared');
    await admin.getByRole('link', { name: 'team', exact: true }).click();
    await admin.getByRole('heading', { name: 'Account of all users at team' }).waitFor();
    await signIn(admin, 'team', server, 'the-team');
    await admin.getByRole('button', { name: 'Approve: ping' }).click();
    await until(() => isOffered('team'));
    expect(await call('team', ANN)).to.equal('token of the-team');
    const ann = await openAs(token);
    await ann.getByText('For administrators').waitFor();
    expect(await accountOf(ann, 'team').count()).to.equal(0);
  });

  it('says why a sign-in has failed, and lets it be tried again', async () => {
    const server = await serve();
    const admin = await openAs(TOKEN);
    await addServer(admin, 'picky', server.url, 'user');
    await app.go(admin, '/mcp-servers/picky');
    await goToIssuer(admin, 'picky', server);
    await admin.getByRole('button', { name: 'deny' }).click();
    await admin.waitForSelector('h1:text("Not connected")');
    expect(await admin.textContent('main'))
      .to.include('picky')
      .and.include('The person has said no.');
    await admin.getByRole('link').click();
    await accountOf(admin, 'picky').getByText('Not signed in').waitFor();

    await goToIssuer(admin, 'picky', server);
    await admin.locator('input[name=state]').evaluate((input: HTMLInputElement) => (input.value = 'x'.repeat(43)));
    await admin.fill('input[name=login]', 'eve');
    await admin.getByRole('button', { name: 'allow' }).click();
    await admin.waitForSelector('h1:text("Unknown connection")');
    expect(server.exchanges).to.deep.equal([]);
    await admin.getByRole('link').click();
    await app.go(admin, '/mcp-servers/picky');
    await signIn(admin, 'picky', server, 'root');
    await accountOf(admin, 'picky').getByRole('button', { name: 'Sign out' }).waitFor();

    await server.close();
    servers.splice(servers.indexOf(server), 1);
    await accountOf(admin, 'picky').getByRole('button', { name: 'Sign in again' }).click();
    await admin.waitForSelector('h1:text("Something went wrong")');
  });
});
