/** Admins see who users are, on every page; nobody else asks for it. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { until } from '../support/until';
import { withDashboard } from '../support/withDashboard';

const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;
const EMAIL = 'ann.with-a-long-name@mail.of.a.long.example.com';

describe('the names of users', () => {
  let app: DashboardBrowser;
  let run: string;
  let waiting: string;
  withDashboard(async (started) => {
    app = started;
    run = await app.startRun('Tell me about meteors.', []);
    await app.waitForEvent(run, 'run:completed');
    waiting = await app.startRun('send_reminder "take a coat"', ['send_reminder']);
    await app.waitForEvent(waiting, 'tool:approval_required');
    const { host } = app.server;
    await host.operations['ai.budgets.set'](ADMIN, { userId: 'local', limits: { day: { calls: 100 } } });
    const request = { requestId: 'later', providerId: 'openai', input: 'Report.', tools: [] };
    await host.module.useCases.queueRun.execute({ userId: 'local', source: 'job' }, request, Date.now() + 86_400_000);
  });

  const PAGES = [
    ['/runs', '.run-row'],
    ['/inbox', '[data-entry]'],
    ['/queue', '[data-queued]'],
    ['/budgets', '[data-user]'],
    ['/requests', '[data-request]'],
    ['/audit', '[data-audit]'],
    ['/usage?by=user', '[aria-labelledby=usage-totals]'],
  ] as const;

  /** The server of these tests has no accounts. @returns what was asked for */
  async function answer(page: Page): Promise<unknown[]> {
    const asked: unknown[] = [];
    await page.route('**/users/names', (route) => {
      asked.push(route.request().postDataJSON());
      return route.fulfill({ json: { names: [{ userId: 'local', name: EMAIL }] } });
    });
    return asked;
  }

  for (const [name, options] of Object.entries({
    'on a desktop': { viewport: { width: 1280, height: 850 } },
    'on a phone, in the dark': { viewport: { width: 390, height: 850 }, colorScheme: 'dark' as const },
  }))
    it(`are there for admins, asked for once by a page, ${name}`, async () => {
      const { context, page } = await app.newVisitor(options);
      const asked = await answer(page);
      await page.goto(`${app.server.url}/#token=${TOKEN}`);
      await page.locator('.run-row').first().getByText(EMAIL).waitFor();
      expect(asked.splice(0)).to.deep.equal([{ userIds: ['local'] }]);
      for (const [path, landmark] of [...PAGES, [`/runs/${run}`, '.facts']] as const) {
        await app.go(page, path);
        await page.locator(landmark).first().getByText(EMAIL).first().waitFor();
        const overflow = await page.evaluate(
          () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
        );
        expect(overflow, `${path} does not overflow`).to.equal(0);
        // Unless it is loaded anew, a page has the name of the one before.
        expect(asked.splice(0), path).to.have.length.at.most(1);
      }
      await page.locator('.facts').getByRole('link', { name: EMAIL }).click();
      await page.waitForURL(/\/runs\?userId=local/);
      expect(app.consoleErrors).to.deep.equal([]);
      await context.close();
    });

  it('are not asked for by others, who see ids', async () => {
    const { context, page } = await app.newVisitor();
    const asked = await answer(page);
    let isKnown = false;
    await page.route('**/me', async (route) => {
      await route.fulfill({ json: { userId: 'local', isAdmin: false } });
      isKnown = true;
    });
    await page.goto(`${app.server.url}/#token=${TOKEN}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await app.go(page, `/runs/${run}`);
    await page.locator('.facts').getByText('local', { exact: true }).waitFor();
    await until(() => isKnown);
    await app.go(page, '/inbox');
    await page.locator('[data-entry]').first().waitFor();
    expect(await page.locator('[data-entry]').getByRole('link', { name: 'local' }).count()).to.equal(0);
    expect(asked).to.deep.equal([]);
    await context.close();
  });
});
