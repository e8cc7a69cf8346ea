/** Links that sign in with a token: anybody can make one, so they replace nobody's session without a question. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

describe('a link with a token', () => {
  let app: DashboardBrowser;
  let foreign: string;
  withDashboard(async (started) => {
    app = started;
    foreign = (
      await app.server.host.apiTokens.tokens.issue({ userId: 'mallory', name: 'link', scopes: ['generate', 'read'] })
    ).token;
  });

  const userOf = (page: Page): Promise<string> =>
    page.evaluate(async () => ((await (await fetch('/session')).json()) as { readonly userId: string }).userId);
  const question = (page: Page) => page.getByRole('dialog', { name: 'Sign in as another user?' });

  for (const kind of ['opened in the page', 'opened in a new tab'] as const)
    it(`asks before it replaces a session, ${kind}`, async () => {
      const { context, page: first } = await app.openSignedIn();
      const page = kind === 'opened in the page' ? first : await context.newPage();
      page.setDefaultTimeout(120_000);
      await page.goto(`${app.server.url}/#token=${foreign}`);
      await question(page).waitFor();
      expect(page.url()).not.to.contain(foreign);
      expect(await question(page).innerText())
        .to.contain('"local"')
        .and.to.contain('"mallory"');
      expect(await userOf(page), 'while it asks').to.equal('local');
      await question(page).getByRole('button', { name: 'Cancel' }).click();
      await question(page).waitFor({ state: 'detached' });
      await page.waitForSelector('h1:text("Overview")');
      expect(await userOf(page), 'after a no').to.equal('local');
      await page.goto(`${app.server.url}/#token=${foreign}`);
      await question(page).getByRole('button', { name: 'Sign in', exact: true }).click();
      await question(page).waitFor({ state: 'detached' });
      await page.waitForSelector('h1:text("Overview")');
      expect(await userOf(page), 'after a yes').to.equal('mallory');
      app.consoleErrors.length = 0;
      await context.close();
    });

  it('asks nobody who is not signed in, or is the same user', async () => {
    const { context, page } = await app.openSignedIn();
    await page.goto(`${app.server.url}/#token=${TOKEN}`);
    await page.goto(`${app.server.url}/#/tools`);
    await page.waitForSelector('h1:text("Tools")');
    expect(await question(page).count()).to.equal(0);
    expect(await userOf(page)).to.equal('local');
    expect(app.consoleErrors).to.deep.equal([]);
    await context.close();
  });

  it('with an invalid token leaves the session as it is', async () => {
    const { context, page } = await app.openSignedIn();
    const refused = page.waitForResponse(
      (response) => response.url().endsWith('/session') && response.status() === 401,
    );
    await page.goto(`${app.server.url}/#token=invalid`);
    await refused;
    await page.waitForSelector('h1:text("Overview")');
    expect(await userOf(page)).to.equal('local');
    app.consoleErrors.length = 0;
    await context.close();
  });
});
