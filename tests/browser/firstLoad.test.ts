/** What Chromium loads for the first page: little before sign-in, and styles before what they apply to. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

/** A checkout compresses less than the package, whose sign-in page `npm run check:package` measures. */
const MAX_SIGN_IN_BYTES = 90_000;

describe('the first page', () => {
  let app: DashboardBrowser;
  withDashboard((started) => {
    app = started;
  });
  afterEach(() => {
    app.consoleErrors.length = 0;
  });

  /** Records how the frame looks when it first appears. */
  const recordFrame = (page: Page): Promise<unknown> =>
    page.addInitScript(`
      new MutationObserver(() => {
        const frame = document.querySelector('.shell');
        if (frame !== null) window.firstFrame ??= getComputedStyle(frame).display;
      }).observe(document, { childList: true, subtree: true });
    `);
  const firstFrame = async (page: Page): Promise<unknown> => {
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    return page.evaluate('window.firstFrame');
  };

  it('takes at most 90 KB before sign-in, and nothing of the pages after it', async () => {
    const { context, page } = await app.newVisitor();
    const sizes = new Map<string, number>();
    page.on('requestfinished', (request) => {
      void request.sizes().then(({ responseBodySize, responseHeadersSize }) => {
        sizes.set(new URL(request.url()).pathname, responseBodySize + responseHeadersSize);
      });
    });
    await page.goto(app.server.url, { waitUntil: 'networkidle' });
    await page.getByLabel('API token').waitFor();
    expect([...sizes.keys()].filter((path) => /SignedIn|signedIn|woff2/.test(path))).to.deep.equal([]);
    expect(sizes.size).to.be.within(5, 7);
    expect([...sizes.values()].reduce((sum, size) => sum + size, 0)).to.be.within(1, MAX_SIGN_IN_BYTES);
    await context.close();
  });

  it('has its styles when it appears: after the form, after a link, and in a browser with a session', async () => {
    const { context, page } = await app.newVisitor();
    await recordFrame(page);
    await page.goto(app.server.url);
    const font = page.waitForResponse(/inter-latin-wght.*\.woff2$/);
    const family = (selector: string): Promise<string> =>
      page
        .locator(selector)
        .first()
        .evaluate((element) => getComputedStyle(element).fontFamily);
    await page.getByLabel('API token').fill(TOKEN);
    await font;
    expect(await family('h1'), 'while somebody types').not.to.include('Inter');
    await page.keyboard.press('Enter');
    expect(await firstFrame(page), 'form').to.equal('grid');
    expect(await family('h1'), 'after sign-in').to.include('Inter');
    await page.reload();
    expect(await firstFrame(page), 'session').to.equal('grid');
    await context.clearCookies();
    const linked = await context.newPage();
    await recordFrame(linked);
    await linked.goto(`${app.server.url}/#token=${TOKEN}`);
    expect(await firstFrame(linked), 'link').to.equal('grid');
    await context.close();
  });

  it('says so if the pages after sign-in cannot be loaded, and loads them after a retry', async () => {
    const { context, page } = await app.newVisitor();
    await page.route(/signedIn-.*\.css$/, (route) => route.abort());
    await page.goto(app.server.url);
    await page.getByLabel('API token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('alert').filter({ hasText: 'A style sheet could not be loaded.' }).waitFor();
    await page.unroute(/signedIn-.*\.css$/);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await context.close();
  });
});
