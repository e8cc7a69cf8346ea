/** The frame of the dashboard in Chromium: navigation, command palette, keys, unknown addresses, a lost connection. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { PAGES } from '../../imports/ui/pages';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';
import { startDemoServer } from '../support/startDemoServer';

describe('the frame of the dashboard', () => {
  let app: DashboardBrowser;
  let context: BrowserContext | undefined;
  let page: Page;
  withDashboard((started) => {
    app = started;
  });
  afterEach(async () => {
    await context?.close();
    context = undefined;
  });

  const open = async (path = '/', width = 1280): Promise<void> => {
    ({ context, page } = await app.openSignedIn(path, { viewport: { width, height: 850 } }));
  };
  const heading = (name: string) => page.getByRole('heading', { name, level: 1 });
  const palette = () => page.getByRole('dialog', { name: 'Command palette' });
  const focusedLabel = () =>
    page.evaluate(() => document.activeElement?.getAttribute('aria-label') ?? document.activeElement?.tagName);

  it('links to every page, each of which loads its own code', async () => {
    await open();
    const scripts = new Set<string>();
    page.on('request', (request) => (/\.js$/.test(request.url()) ? scripts.add(request.url()) : undefined));
    const labels = await page.locator('nav[aria-label="Pages"] a span:first-of-type').allTextContents();
    expect(labels).to.deep.equal(PAGES.map(({ label }) => label));
    for (const label of labels) {
      await page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: label }).click();
      await heading(label).waitFor();
    }
    expect([...scripts].some((url) => url.includes('PlaygroundPage'))).to.equal(true);
    expect(app.consoleErrors).to.deep.equal([]);
  });

  it('offers all pages behind a button on phones', async () => {
    await open('/', 390);
    await page.getByRole('button', { name: 'More' }).click();
    await page.getByRole('link', { name: 'Budgets' }).click();
    await heading('Budgets').waitFor();
    expect(await page.getByRole('link', { name: 'Budgets' }).isVisible()).to.equal(false);
    await page.getByRole('button', { name: 'More' }).click();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'More' }).waitFor();
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal('More');
  });

  it('works in one page while ten others are open behind it', async () => {
    await open();
    const others = await Promise.all(Array.from({ length: 10 }, () => context!.newPage()));
    for (const other of others) {
      // Playwright shows each page.
      await other.addInitScript("Object.defineProperty(document, 'visibilityState', { get: () => 'hidden' })");
      await other.goto(new URL('/runs', page.url()).href);
      await other.getByRole('heading', { name: 'Runs' }).waitFor();
    }
    const id = await app.startRun('How are you?', []);
    await page.getByRole('link', { name: 'Runs', exact: true }).first().click();
    await page.locator(`.run-row[data-run="${id}"][data-state="completed"]`).waitFor();
  });

  it('goes to a page from the command palette, by keyboard alone', async () => {
    await open();
    await page.keyboard.press('Control+k');
    await palette().getByRole('combobox').fill('prov');
    await palette().getByRole('option', { name: 'Providers', selected: true }).waitFor();
    await page.keyboard.press('Enter');
    await heading('Providers').waitFor();
    expect(await palette().count()).to.equal(0);
  });

  it('moves through the results with the arrow keys, and returns the focus after Escape', async () => {
    await open('/tools');
    // The heading of a page takes the focus when it appears.
    await page.waitForFunction(() => document.activeElement?.textContent === 'Tools');
    await page.getByRole('button', { name: 'Keyboard shortcuts' }).focus();
    await page.keyboard.press('Control+k');
    await palette().getByRole('option', { name: 'Overview', selected: true }).waitFor();
    await page.keyboard.press('ArrowUp');
    await palette().getByRole('option', { name: 'Sign out', selected: true }).waitFor();
    await page.keyboard.press('ArrowDown');
    await palette().getByRole('option', { name: 'Overview', selected: true }).waitFor();
    await page.keyboard.press('Escape');
    await palette().waitFor({ state: 'detached' });
    expect(await focusedLabel()).to.equal('Keyboard shortcuts');
  });

  it('changes the theme and signs out from the palette', async () => {
    await open();
    await page.keyboard.press('Control+k');
    await palette().getByRole('combobox').fill('theme dark');
    await page.keyboard.press('Enter');
    await page.locator('.bolide[data-theme="dark"]').waitFor();
    await page.keyboard.press('Control+k');
    await palette().getByRole('combobox').fill('sign out');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('lists the keys with `?`, but not while someone types', async () => {
    await open('/playground');
    await page.getByLabel('Prompt').first().fill('');
    await page.getByLabel('Prompt').first().pressSequentially('What?');
    expect(await page.getByLabel('Prompt').first().inputValue()).to.equal('What?');
    expect(await page.getByRole('dialog').count()).to.equal(0);
    await page.getByLabel('Prompt').first().blur();
    await page.keyboard.press('?');
    await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).getByText('Command palette').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
  });

  it('shows a page for unknown addresses to browsers, and JSON to programs', async () => {
    await open('/tools/some/thing');
    await heading('Page not found').waitFor();
    const response = await page.goto(`${app.server.url}/no/such/page`);
    expect(response?.status()).to.equal(404);
    await heading('Page not found').waitFor();
    await page.getByRole('link', { name: 'Go to the dashboard' }).click();
    await heading('Overview').waitFor();
    const answer = await fetch(`${app.server.url}/no/such/page`);
    expect(answer.status).to.equal(404);
    expect(await answer.json()).to.have.nested.property('error.code', 'not-found');
  });

  it('says that the connection is lost when the server is gone, and recovers with it', async () => {
    const server = await startDemoServer({ PORT: '0', BOLIDE_API_TOKEN: TOKEN });
    ({ context, page } = await app.newVisitor());
    await page.goto(`${server.url}/#token=${TOKEN}`);
    await page.locator('.connection-live').waitFor();
    await server.close();
    await page.getByRole('alert').getByText('Connection lost, retrying.').waitFor();
    await page.getByText(/The data below is at least \d/).waitFor();
    expect(await page.locator('.connection-live').count()).to.equal(0);
    const { port } = new URL(server.url);
    const again = await startDemoServer({ PORT: port, BOLIDE_API_TOKEN: TOKEN });
    try {
      // Sessions are not stored, so the page asks for the token again, or continues.
      await page.getByText('Connection lost, retrying.').waitFor({ state: 'detached' });
    } finally {
      await again.close();
    }
    app.consoleErrors.length = 0;
  });
});
