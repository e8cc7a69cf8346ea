/** The same chat in each framework, compiled by its own compiler, and as a custom element, in a browser. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { buildChat, buildElementChat, FRAMEWORKS } from '../support/buildChat';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

interface Visit {
  /** Opens the page for a visitor who is signed in. */
  readonly open: (options?: BrowserContextOptions) => Promise<Page>;
  readonly consoleErrors: () => string[];
}

/** The hooks of a suite with a chat on a server of its own. */
function withChat(build: () => Promise<string>): Visit {
  let app: DashboardBrowser;
  let html: string;
  const contexts: BrowserContext[] = [];
  withDashboard(async (started) => {
    app = started;
    html = await build();
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(app.consoleErrors.splice(0)).to.deep.equal([]);
  });
  const open: Visit['open'] = async (options) => {
    const { context, page } = await app.newVisitor(options);
    contexts.push(context);
    // The page has the server's origin, as if the server's app served it.
    await context.route(`${app.server.url}/chat`, (route) =>
      route.fulfill({
        contentType: 'text/html; charset=utf-8',
        headers: { 'content-security-policy': "default-src 'self' data:; script-src 'unsafe-inline'" },
        body: html,
      }),
    );
    const session = await context.request.post(`${app.server.url}/api/session`, { data: { token: TOKEN } });
    expect(session.ok()).to.equal(true);
    await page.goto(`${app.server.url}/chat`);
    return page;
  };
  return { open, consoleErrors: () => app.consoleErrors };
}

const send = async (page: Page, text: string): Promise<void> => {
  await page.getByLabel('Message', { exact: true }).fill(text);
  await page.getByRole('button', { name: 'Send' }).click();
};

for (const framework of FRAMEWORKS)
  describe(`The chat in ${framework}`, () => {
    const { open } = withChat(() => buildChat(framework));

    it('streams an answer, waits for an approval, and shows the conversation again after a reload', async () => {
      const page = await open();
      const hasStatus = (status: string) => page.locator(`main[data-status="${status}"]`).waitFor();
      await hasStatus('ready');
      await send(page, 'Use send_reminder "take a coat"');
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
      await send(page, 'Thank you.');
      await page.locator('article[data-role="user"]').nth(1).waitFor();
      await hasStatus('ready');
      expect(await page.locator('article').count()).to.equal(4);
    });
  });

describe('<bolide-chat>', () => {
  const { open, consoleErrors } = withChat(buildElementChat);
  const status = (page: Page, text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
  const messages = (page: Page) => page.getByRole('listitem');
  const isIdle = (page: Page) =>
    page.waitForFunction(() => document.querySelector('bolide-chat')?.conversation?.status === 'ready');

  it('is used with the keyboard: sends, approves with the arguments in sight, and stops', async () => {
    const page = await open();
    await isIdle(page);
    await page.getByLabel('Message', { exact: true }).focus();
    await page.keyboard.type('Use send_reminder "take a coat"');
    await page.keyboard.press('Shift+Enter');
    await page.keyboard.type('today');
    await page.keyboard.press('Enter');
    await status(page, 'Waiting…');
    const asked = page.getByRole('group', { name: 'Tool send_reminder' });
    expect(await asked.getByLabel('Arguments of send_reminder').textContent()).to.include('take a coat');
    await page.getByRole('button', { name: 'Approve send_reminder' }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('send_reminder – Completed').waitFor();
    await isIdle(page);
    expect(await page.evaluate(() => document.querySelector('bolide-chat')?.shadowRoot?.activeElement?.id)).to.equal(
      'message',
    );
    const shown = await messages(page).allTextContents();
    expect(shown[0]).to.equal('You:Use send_reminder "take a coat"\ntoday');
    await page.reload();
    await messages(page).nth(1).waitFor();
    expect(await messages(page).allTextContents()).to.deep.equal(shown);
    await page.getByLabel('Message', { exact: true }).fill('Use send_reminder "take a hat"');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Reject send_reminder' }).waitFor();
    await page.getByLabel('Message', { exact: true }).press('Escape');
    await page.getByText('send_reminder – Cancelled').waitFor();
  });

  for (const colorScheme of ['light', 'dark'] as const)
    it(`is accessible and fits a phone: ${colorScheme}`, async () => {
      const page = await open({ colorScheme, viewport: { width: 390, height: 844 } });
      await isIdle(page);
      await send(page, `Use send_reminder "${'a-long-word'.repeat(20)}"`);
      await page.getByRole('button', { name: 'Approve send_reminder' }).last().waitFor();
      const width = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(width).to.equal(390);
      const targets = await page
        .getByRole('button')
        .evaluateAll((nodes) =>
          nodes
            .map((node) => node.getBoundingClientRect())
            .filter(({ width: shown, height }) => shown > 0 && height < 44),
        );
      expect(targets).to.deep.equal([]);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate<AxeResults>('axe.run("bolide-chat")');
      expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).to.deep.equal([]);
      const { SCREENSHOTS: directory } = process.env;
      if (directory !== undefined) await page.screenshot({ path: `${directory}/chat-${colorScheme}.png` });
      await page.getByRole('button', { name: 'Stop' }).click();
      await isIdle(page);
    });

  it('takes the colours of its page, and shows why a message was refused', async () => {
    const page = await open();
    await isIdle(page);
    const color = await page.evaluate(() => {
      const chat = document.querySelector('bolide-chat')!;
      chat.style.setProperty('--bolide-background', 'rgb(1, 2, 3)');
      chat.setAttribute('model', 'no-such-provider');
      chat.setAttribute('conversation-id', 'another');
      return getComputedStyle(chat).backgroundColor;
    });
    expect(color).to.equal('rgb(1, 2, 3)');
    await isIdle(page);
    await send(page, 'Hello?');
    await page.getByRole('alert').filter({ hasText: 'no-such-provider' }).waitFor();
    await page.evaluate(() => document.querySelector('bolide-chat')?.setAttribute('model', 'openai'));
    await page.getByRole('button', { name: 'Try again' }).click();
    await messages(page).nth(1).waitFor();
    await isIdle(page);
    expect(await page.getByRole('alert').count()).to.equal(0);
    expect(consoleErrors().splice(0)).to.have.length(1);
  });

  it('takes data that it was given before it was defined', async () => {
    const page = await open();
    await page.addInitScript({
      content: `
        const observed = (value) => ({ get: () => value, subscribe: () => () => {} });
        const failed = observed({ state: 'failed', error: { code: 'x', message: 'Not today.' } });
        const none = observed({ state: 'ready' });
        new MutationObserver(() => {
          const chat = document.querySelector('bolide-chat');
          if (chat === null || customElements.get('bolide-chat') !== undefined) return;
          chat.data = { conversationRuns: () => failed, run: () => none };
        }).observe(document, { childList: true, subtree: true });`,
    });
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'Not today.' }).waitFor();
  });
});
