/** The dashboard within the page of an app: neither one's style sheets reach the other. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { build } from 'esbuild';
import type { Page } from 'playwright-core';
import { bundleStyles, dashboardCss } from '../../scripts/package/inlineStyles';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { until } from '../support/until';
import { withDashboard } from '../support/withDashboard';

const HOSTILE = readFileSync(join(__dirname, '../support/react/hostilePage.css'), 'utf8');
const LOOKS = {
  light: { colorScheme: 'light', viewport: { width: 1280, height: 850 } },
  dark: { colorScheme: 'dark', viewport: { width: 1280, height: 850 } },
  'on a phone': { colorScheme: 'light', viewport: { width: 390, height: 850 } },
} as const;
/** Pages whose content is the same at any time. */
const PAGES = ['tools', 'providers', 'playground'] as const;

describe('the dashboard in an app', () => {
  let app: DashboardBrowser;
  let script: string;
  let styles: string;
  withDashboard(async (started) => {
    app = started;
    styles = await bundleStyles();
    const { outputFiles } = await build({
      entryPoints: [join(__dirname, '../support/react/dashboardPage.tsx')],
      bundle: true,
      write: false,
      format: 'iife',
      jsx: 'automatic',
      define: { 'process.env.NODE_ENV': '"production"', TOKEN: JSON.stringify(TOKEN) },
      plugins: [{ name: 'styles', setup: (bundle) => bundle.onLoad({ filter: /dashboardCss\.ts$/ }, dashboardCss) }],
      logLevel: 'error',
    });
    script = outputFiles[0]?.text ?? '';
  });
  afterEach(() => {
    expect(app.consoleErrors.splice(0)).to.deep.equal([]);
  });

  /** @param css of the app; without it, the dashboard has the page for itself */
  async function open(page: Page, hash: string, css?: string): Promise<void> {
    const [attribute, sheet] = css === undefined ? ['', styles] : [' data-app', css];
    await page.route(`${app.server.url}/app-page`, (route) =>
      route.fulfill({
        contentType: 'text/html; charset=utf-8',
        body: `<!doctype html><title>App</title><link rel="icon" href="data:,"><style>body { margin: 0 } ${sheet}</style><body${attribute}><div id="dashboard"></div><script>${script.replaceAll('</script', '<\\/script')}</script>`,
      }),
    );
    await page.goto(`${app.server.url}/app-page#/${hash}`);
    await page.locator('h1').first().waitFor();
    await page.locator('.skeleton').first().waitFor({ state: 'detached' });
    await page.evaluate(() => document.fonts.ready);
  }

  for (const [name, look] of Object.entries(LOOKS))
    it(`looks as it does in a page of its own, ${name}`, async () => {
      const [own, embedded] = await Promise.all([app.newVisitor(look), app.newVisitor(look)]);
      const shoot = ({ page }: { readonly page: Page }): Promise<Buffer> =>
        page.locator('.bolide').screenshot({ animations: 'disabled' });
      for (const path of PAGES) {
        await open(own.page, path);
        await open(embedded.page, path, HOSTILE);
        // A page may be drawn while a part of it is still being loaded.
        await until(async () => (await shoot(own)).equals(await shoot(embedded)));
      }
      await Promise.all([own.context.close(), embedded.context.close()]);
    });

  it('leaves the page of the app as it is', async () => {
    const { context, page } = await app.newVisitor();
    await open(page, 'tools', '');
    /** Every property of an element that has the names of the dashboard's own, and of the page. */
    const stylesOfPage = (): Promise<string> =>
      page.evaluate(() => {
        const button = document.body.appendChild(document.createElement('button'));
        button.className = 'button card badge';
        const styles = [button, document.body].map((element) => {
          const style = getComputedStyle(element);
          return [...style]
            .filter((name) => !/size|height|origin/.test(name))
            .map((name) => style.getPropertyValue(name));
        });
        button.remove();
        return JSON.stringify(styles);
      });
    const besideDashboard = await stylesOfPage();
    await page.evaluate(() => document.getElementById('dashboard')?.remove());
    expect(await stylesOfPage()).to.equal(besideDashboard);
    await context.close();
  });

  it('has its keys, links and dialogs, and none of them in fields of the app', async () => {
    const { context, page } = await app.newVisitor();
    await open(page, 'tools', '');
    const link = page.getByRole('navigation', { name: 'Pages' }).getByRole('link', { name: 'Memory' });
    await link.focus();
    await page.keyboard.press('?');
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await link.evaluate((element) => element.matches(':focus')), 'the focus returns').to.equal(true);
    await page.evaluate(() => document.body.prepend(document.createElement('input')));
    await page.locator('body > input').fill('?j');
    expect(await page.getByRole('dialog').count()).to.equal(0);
    await link.click();
    await page.getByRole('heading', { level: 1, name: 'Memory' }).waitFor();
    await context.close();
  });
});
