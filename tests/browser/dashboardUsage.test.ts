/** What the pages Overview and Usage show of a seeded store agrees with a count by hand. */
import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AxeResults } from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { RequestView } from '../../imports/business/ai/domain/types/RequestRecords';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { DocumentRequestStore } from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { seedDatabase } from '../../scripts/seed/seedDatabase';
import { seededRandom } from '../../scripts/seed/seededRandom';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

describe('usage in the dashboard', () => {
  let app: DashboardBrowser;
  let requests: readonly RequestView[] = [];
  const seed = async (): Promise<string> => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-usage-'));
    const database = await openSqliteDatabase({ directory });
    await openRunStore(database);
    await new DocumentRequestStore(database).ready();
    await seedDatabase(database, { runs: 400, waiting: 0, now: Date.now(), random: seededRandom(7) });
    requests = await database.collection<RequestView>('ai_requests').find({});
    await database.close();
    return directory;
  };
  withDashboard(
    (started) => {
      app = started;
    },
    { data: seed },
  );

  const cellsOf = (page: Page, table: string): Promise<string[][]> =>
    page
      .locator(`${table} tr`)
      .evaluateAll((rows) =>
        rows.map((row) => [...(row as HTMLTableRowElement).cells].map((cell) => cell.innerText.trim())),
      );
  const tally = (by: (request: RequestView) => string): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const request of requests) counts.set(by(request), (counts.get(by(request)) ?? 0) + 1);
    return counts;
  };

  it('totals the requests of each model, and states which costs are unknown', async () => {
    const { page } = await app.openSignedIn('/usage?by=model&range=90d');
    await page.waitForSelector('[aria-labelledby="usage-totals"] tfoot td');
    const rows = await cellsOf(page, 'section[aria-labelledby="usage-totals"] .usage-table');
    const shown: unknown = Object.fromEntries(rows.slice(1).map(([model, count, errors]) => [model, [count, errors]]));
    const failed = requests.filter(({ state }) => state === 'failed');
    const expected = [...tally(({ model = '' }) => model)].map(([model, count]) => [
      model,
      [count.toLocaleString('en-US'), String(failed.filter((request) => request.model === model).length)],
    ]);
    expect(shown).to.deep.equal({
      ...Object.fromEntries(expected),
      All: [requests.length.toLocaleString('en-US'), String(failed.length)],
    });
    const unknown = requests.filter(({ unpriced }) => unpriced !== undefined).length;
    expect(await page.locator('.usage-unknown').innerText()).to.include(
      `The cost of ${unknown} requests, or a part of it, is unknown`,
    );
    expect(app.consoleErrors).to.deep.equal([]);
  });

  it('has the values of a chart in a table, by day', async () => {
    const { page } = await app.openSignedIn('/usage?by=user&range=90d');
    const chart = page.locator('section[aria-labelledby="usage-requests"]');
    await chart.locator('canvas').waitFor();
    await chart.getByText('Values by day').click();
    const [heads = [], ...days] = await cellsOf(page, 'section[aria-labelledby="usage-requests"] .usage-table');
    expect(days).to.have.length(90);
    const byUser = tally(({ userId }) => userId);
    const sums = heads.map((_, column) => days.reduce((sum, cells) => sum + Number(cells[column]), 0));
    for (const [column, user] of heads.entries())
      if (column > 0 && user !== 'All others') expect(sums[column], user).to.equal(byUser.get(user));
    expect(sums.slice(1).reduce((sum, count) => sum + count, 0)).to.equal(requests.length);
    const today = new Date().setHours(0, 0, 0, 0);
    expect(
      days
        .at(-1)!
        .slice(1)
        .reduce((sum, cell) => sum + Number(cell), 0),
    ).to.equal(requests.filter(({ at }) => at >= today).length);
  });

  it('follows a change of the period and the group, also in the address', async () => {
    const { page } = await app.openSignedIn('/usage');
    await page.getByRole('button', { name: 'Tool' }).click();
    await page.getByRole('button', { name: '30 days' }).click();
    await page.waitForSelector('section[aria-labelledby="usage-totals"] th:has-text("get_weather")');
    expect(page.url())
      .to.match(/\/usage\?/)
      .and.to.include('by=tool')
      .and.to.include('range=30d');
    await page.reload();
    await page.waitForSelector('section[aria-labelledby="usage-totals"] th:has-text("get_weather")');
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      it(`violates no accessibility rule and fits the viewport: ${colorScheme}, ${width} px`, async () => {
        const { context, page } = await app.openSignedIn('/', {
          colorScheme,
          viewport: { width, height: 850 },
          reducedMotion: 'reduce',
        });
        const totals = 'section[aria-labelledby="usage-totals"] th';
        for (const [path, shown] of [
          ['/', '.time-chart canvas'],
          // While a report is loaded, the last one is shown faintly.
          ['/usage?by=model', `${totals}:has-text("gpt-5.4-mini")`],
          ['/usage?by=tool&range=30d', `${totals}:has-text("get_weather")`],
        ] as const) {
          await app.go(page, path);
          await page.locator(shown).first().waitFor();
          await page.locator('.time-chart canvas').first().waitFor();
          await page.evaluate(AXE);
          const { violations } = await page.evaluate<AxeResults>('axe.run("main")');
          expect(
            violations.map(({ id, nodes }) => `${path} ${id}: ${nodes[0]?.html.slice(0, 160)}`),
            path,
          ).to.deep.equal([]);
          expect(await page.evaluate(() => document.documentElement.scrollWidth)).to.equal(width);
        }
        await context.close();
      });
    }
  }
});
