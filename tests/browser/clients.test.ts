/** The same chat in each framework, compiled by its own compiler, in a browser. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { buildChat, FRAMEWORKS } from '../support/buildChat';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

for (const framework of FRAMEWORKS)
  describe(`The chat in ${framework}`, () => {
    let app: DashboardBrowser;
    let script: string;
    let context: BrowserContext;
    let page: Page;
    withDashboard(async (started) => {
      app = started;
      script = await buildChat(framework);
    });
    beforeEach(async () => {
      ({ context, page } = await app.newVisitor());
      // The page has the server's origin, as if the server's app served it.
      await context.route(`${app.server.url}/chat`, (route) =>
        route.fulfill({
          contentType: 'text/html; charset=utf-8',
          body: `<!doctype html><title>Chat</title><link rel="icon" href="data:,"><div id="chat"></div><script>${script.replaceAll('</script', '<\\/script')}</script>`,
        }),
      );
      const session = await context.request.post(`${app.server.url}/api/session`, { data: { token: TOKEN } });
      expect(session.ok()).to.equal(true);
      await page.goto(`${app.server.url}/chat`);
      await hasStatus('ready');
    });
    afterEach(async () => {
      await context.close();
      expect(app.consoleErrors.splice(0)).to.deep.equal([]);
    });

    const hasStatus = (status: string) => page.locator(`main[data-status="${status}"]`).waitFor();
    const send = async (text: string): Promise<void> => {
      await page.getByLabel('Message').fill(text);
      await page.getByRole('button', { name: 'Send' }).click();
    };

    it('streams an answer, waits for an approval, and shows the conversation again after a reload', async () => {
      await send('Use send_reminder "take a coat"');
      await hasStatus('waiting');
      expect(await page.getByLabel('Message').inputValue()).to.equal('');
      await page.getByRole('button', { name: 'Approve' }).click();
      await hasStatus('ready');
      expect(await page.locator('article').count()).to.equal(2);
      const shown = await page.locator('article').last().textContent();
      expect(shown).to.match(/send_reminder:\s+completed/);
      await page.reload();
      await page.locator('article').last().waitFor();
      expect(await page.locator('article').last().textContent()).to.equal(shown);
      await send('Thank you.');
      await page.locator('article[data-role="user"]').nth(1).waitFor();
      await hasStatus('ready');
      expect(await page.locator('article').count()).to.equal(4);
    });
  });
