/** The addresses of the dashboard's pages, in Chromium. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

describe('the addresses of the dashboard', () => {
  let app: DashboardBrowser;
  let context: BrowserContext;
  let page: Page;
  withDashboard((started) => {
    app = started;
  });
  beforeEach(async () => {
    ({ context, page } = await app.openSignedIn());
  });
  afterEach(async () => {
    await context.close();
    expect(app.consoleErrors).to.deep.equal([]);
  });

  const heading = (name: string | RegExp) => page.getByRole('heading', { level: 1, name }).waitFor();
  const pathOf = () => new URL(page.url()).pathname;

  it('lead to a run after a reload, and back to it by the Back button', async () => {
    const id = await app.startRun('How are you?', []);
    await page.goto(`${app.server.url}/runs/${id}`);
    await heading(/How are you/);
    await page.reload();
    await heading(/How are you/);
    await page.evaluate('window.isTheSamePage = true');
    await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
    await heading('Runs');
    expect(pathOf()).to.equal('/runs');
    await page.goBack();
    await heading(/How are you/);
    expect(pathOf()).to.equal(`/runs/${id}`);
    expect(await page.evaluate('window.isTheSamePage'), 'the page was not loaded again').to.equal(true);
  });

  it('are what old ones lead to, also in a page that is open', async () => {
    await page.goto(`${app.server.url}/#/usage?by=model`);
    await heading('Usage');
    expect(page.url()).to.equal(`${app.server.url}/usage?by=model`);
    await page.evaluate("window.location.hash = '#/queue'");
    await heading('Queue');
    expect(page.url()).to.equal(`${app.server.url}/queue`);
  });

  it('open in a tab of their own with the key for it', async () => {
    const opened = context.waitForEvent('page');
    await page
      .getByRole('link', { name: 'Playground' })
      .first()
      .click({ modifiers: ['ControlOrMeta'] });
    const tab = await opened;
    await tab.getByRole('heading', { level: 1, name: 'Playground' }).waitFor();
    expect(new URL(tab.url()).pathname).to.equal('/playground');
    expect(pathOf()).to.equal('/');
  });
});
