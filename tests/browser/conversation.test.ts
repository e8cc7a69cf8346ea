/** `useConversation` in a real browser, against the server of `npm start`. */
import { join } from 'node:path';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { BrowserContext, Page } from 'playwright-core';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const EVERYTHING = 'Use get_weather for Lisbon, research_topic "harbour fog", send_reminder "take a coat"';

describe('useConversation in Chromium', () => {
  let app: DashboardBrowser;
  let script: string;
  let context: BrowserContext;
  let page: Page;
  withDashboard(async (started) => {
    app = started;
    const { outputFiles } = await build({
      entryPoints: [join(__dirname, '../support/react/chatPage.tsx')],
      bundle: true,
      write: false,
      format: 'iife',
      jsx: 'automatic',
      define: { 'process.env.NODE_ENV': '"development"', TOKEN: JSON.stringify(TOKEN) },
      logLevel: 'error',
    });
    script = outputFiles[0]?.text ?? '';
  });
  afterEach(async () => {
    await context.close();
    expect(app.consoleErrors.splice(0)).to.deep.equal([]);
  });

  /** The page has the server's origin, as if the server's app served it. */
  const open = async (conversation: string): Promise<void> => {
    ({ context, page } = await app.newVisitor());
    await context.route(`${app.server.url}/chat-page`, (route) =>
      route.fulfill({
        contentType: 'text/html; charset=utf-8',
        body: `<!doctype html><title>Chat</title><link rel="icon" href="data:,"><div id="chat"></div><script>${script.replaceAll('</script', '<\\/script')}</script>`,
      }),
    );
    await page.goto(`${app.server.url}/chat-page#${conversation}`);
    await hasStatus('ready');
  };
  const hasStatus = (status: string) => page.locator(`main[data-status="${status}"]`).waitFor();
  const send = async (text: string): Promise<void> => {
    await page.getByLabel('Message').fill(text);
    await page.getByRole('button', { name: 'Send' }).click();
  };
  const call = (name: string, state: string) => page.locator(`[data-call="${name}"][data-state="${state}"]`);
  const messages = () => page.locator('article').allTextContents();

  it('streams, shows blocking and non-blocking calls live, approves, and survives a reload', async () => {
    await open('everything');
    await send(EVERYTHING);
    await call('get_weather', 'completed').waitFor();
    await page.locator('[data-call="research_topic"][data-progress]').waitFor();
    await page.getByRole('button', { name: 'Approve' }).waitFor();
    await page.reload();
    await page.getByRole('button', { name: 'Approve' }).click();
    await call('send_reminder', 'completed').waitFor();
    await page.locator('p[data-streaming="true"]').first().waitFor();
    await page.reload();
    await hasStatus('ready');
    expect(await call('research_topic', 'completed').textContent()).to.include('harbour fog');
    expect(await page.locator('[data-call="research_topic"]').getAttribute('data-blocking')).to.equal('false');
    const shown = await messages();
    expect(shown).to.have.length(2);
    await send('Thank you.');
    await page.waitForFunction(() => document.querySelectorAll('article').length === 4);
    await hasStatus('ready');
    expect((await messages()).slice(0, 2)).to.deep.equal(shown);
  });

  it('is stopped, and answers the next message', async () => {
    await open('stopped');
    await send('Use render_video "fog over a harbour" 30 seconds');
    await call('render_video', 'executing').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await call('render_video', 'cancelled').waitFor();
    await hasStatus('ready');
    await send('Hello?');
    await page.waitForFunction(() => document.querySelectorAll('article').length === 4);
    await hasStatus('ready');
  });
});
