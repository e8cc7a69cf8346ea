/** The list of runs in Chromium, over a store with thousands of them: search, filters, order, pages, views, keys. */
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { openDatabase } from '../../imports/database/openDatabase';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { seedDatabase } from '../../scripts/seed/seedDatabase';
import { seededRandom } from '../../scripts/seed/seededRandom';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const RUNS = 3_000;

describe('the list of runs', () => {
  let app: DashboardBrowser;
  let context: BrowserContext | undefined;
  let page: Page;
  const seed = async (): Promise<string> => {
    const directory = await mkdtemp(join(tmpdir(), 'bolide-runs-'));
    const database = await openDatabase({ DATA_DIR: directory });
    await openRunStore(database);
    await seedDatabase(database, { runs: RUNS, waiting: 0, now: Date.now() - 60_000, random: seededRandom(20261122) });
    await database.close();
    return directory;
  };
  withDashboard(
    (started) => {
      app = started;
    },
    { data: seed },
  );
  afterEach(async () => {
    await context?.close();
    context = undefined;
  });

  const open = async (path: string, width = 1280): Promise<void> => {
    ({ context, page } = await app.openSignedIn(path, { viewport: { width, height: 850 } }));
    await page.locator('[data-run], .placeholder').first().waitFor();
  };
  const range = () => page.locator('.paging [role="status"]');
  const ids = () => page.locator('[data-run]').evaluateAll((rows) => rows.map((row) => row.getAttribute('data-run')));
  const rowIs = (id: string | null | undefined) => page.locator(`[data-run="${id ?? ''}"]`);

  it('finds a run by its text among thousands, and restores the search after a reload', async () => {
    const wanted = await app.startRun('Where is the zanzibar invoice?');
    await app.waitForEvent(wanted, 'run:completed');
    await open('/runs');
    await page.keyboard.press('/');
    await page.keyboard.type('zanzibar inv');
    await range().getByText('1–1 of 1').waitFor();
    expect(await ids()).to.deep.equal([wanted]);
    expect(page.url()).to.include('search=zanzibar+inv');
    await page.reload();
    await range().getByText('1–1 of 1').waitFor();
    expect(await page.getByPlaceholder('Search title, ID, user, tool').inputValue()).to.equal('zanzibar inv');
    await page.getByRole('button', { name: 'Clear all' }).click();
    await range()
      .getByText(`of ${(RUNS + 1).toLocaleString('en-US')}`)
      .waitFor();
  });

  it('counts the filters behind the button in the button, on phones, too', async () => {
    await open('/runs?userId=ada');
    await page.setViewportSize({ width: 390, height: 844 });
    const button = page.getByRole('button', { name: 'More filters 1' });
    const outer = await button.boundingBox();
    const inner = await button.getByText('1', { exact: true }).boundingBox();
    expect(inner?.y, 'below the top edge').to.be.within(outer?.y ?? 0, (outer?.y ?? 0) + (outer?.height ?? 0));
  });

  it('filters by state and user, in the address, and counts all matches', async () => {
    await open('/runs');
    await page.getByLabel('State').selectOption('completed');
    await page.waitForFunction(() =>
      [...document.querySelectorAll('[data-run]')].every((row) => row.getAttribute('data-state') === 'completed'),
    );
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByLabel('User ID', { exact: true }).fill('ada');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove filter: User: ada' }).waitFor();
    await page.waitForURL(/userId=ada/);
    const { total } = (await (
      await page.request.get(`${app.server.url}/runs/summary?state=completed&userId=ada`)
    ).json()) as { readonly total: number };
    expect(total).to.be.greaterThan(0);
    const matching = range().filter({ hasText: `of ${total.toLocaleString('en-US')} runs` });
    await matching.waitFor();
    await page.reload();
    await matching.waitFor();
    expect(await page.getByLabel('State').inputValue()).to.equal('completed');
  });

  it('sorts by a column, in both directions', async () => {
    await open('/runs');
    const newest = (await ids())[0];
    const costs = () =>
      page
        .locator('[data-label="Cost"]')
        .evaluateAll((cells) =>
          cells.flatMap((cell) => (/^\$[\d.]+$/.test(cell.textContent) ? [Number(cell.textContent.slice(1))] : [])),
        );
    await page.getByRole('button', { name: 'Sort by cost' }).click();
    await page.getByRole('button', { name: 'Cost, highest first. Reverse' }).waitFor();
    await rowIs(newest).waitFor({ state: 'detached' });
    const highest = await costs();
    expect(highest).to.deep.equal(highest.toSorted((a, b) => b - a));
    await page.getByRole('button', { name: 'Sort by created' }).click();
    await rowIs(newest).waitFor();
    await page.getByRole('button', { name: 'Created, highest first. Reverse' }).click();
    await rowIs('seed-0').waitFor();
    expect((await ids())[0]).to.equal('seed-0');
  });

  it('goes through the pages and back, also after a reload and with the Back button', async () => {
    await open('/runs');
    const first = await ids();
    await page.getByRole('button', { name: 'Next' }).click();
    await range().getByText('51–100 of').waitFor();
    await rowIs(first[0]).waitFor({ state: 'detached' });
    const second = await ids();
    expect(second.filter((id) => first.includes(id))).to.deep.equal([]);
    await page.getByRole('button', { name: 'Next' }).click();
    await range().getByText('101–150 of').waitFor();
    await page.reload();
    await range().getByText('101–150 of').waitFor();
    await page.getByRole('button', { name: 'Previous' }).click();
    await range().getByText('51–100 of').waitFor();
    await rowIs(second[0]).waitFor();
    expect(await ids()).to.deep.equal(second);
    await page.getByRole('button', { name: 'Previous' }).click();
    await rowIs(first[0]).waitFor();
    await page.goBack();
    await rowIs(second[0]).waitFor();
  });

  it('starts at the first page when a filter changes', async () => {
    await open('/runs');
    await page.getByRole('button', { name: 'Next' }).click();
    await range().getByText('51–100 of').waitFor();
    await page.getByLabel('State').selectOption('completed');
    await range()
      .getByText(/^1–50 of/)
      .waitFor();
    expect(page.url()).not.to.match(/after=|page=/);
  });

  it('keeps the height of its rows while it is scrolled, so that a button stays under the pointer', async () => {
    await open('/runs');
    const heights = () =>
      page.locator('[data-run]').evaluateAll(async (rows) => {
        // What Chromium skipped, it lays out with the frame after the scrolling.
        for (let frame = 0; frame < 3; frame += 1) await new Promise(requestAnimationFrame);
        return rows.map((row) => row.getBoundingClientRect().height);
      });
    const before = await heights();
    await page.getByRole('button', { name: 'Next' }).scrollIntoViewIfNeeded();
    expect(await heights()).to.deep.equal(before);
  });

  it('saves a view in the browser, whose link others can open', async () => {
    await open('/runs?state=failed&userId=ada');
    await page.getByRole('button', { name: 'Save view' }).click();
    await page.getByLabel('Name of the view').fill('Ada fails');
    await page.keyboard.press('Enter');
    const link = page.getByRole('link', { name: 'Ada fails' });
    await link.waitFor();
    const href = (await link.getAttribute('href')) ?? '';
    await page.getByRole('link', { name: 'All', exact: true }).click();
    await page.waitForURL(/\/runs$/);
    await page.reload();
    await link.click();
    await page.getByRole('button', { name: 'Remove filter: User: ada' }).waitFor();
    const other = await app.openSignedIn(href);
    await other.page.getByRole('button', { name: 'Remove filter: User: ada' }).waitFor();
    expect(await other.page.getByRole('link', { name: 'Ada fails' }).count()).to.equal(0);
    await other.context.close();
    await page.getByRole('button', { name: 'Delete view Ada fails' }).click();
    await link.waitFor({ state: 'detached' });
  });

  it('moves through the rows with j and k, and opens one with Enter', async () => {
    await open('/runs');
    const [first, second] = await ids();
    const focused = () => page.evaluate(() => document.activeElement?.closest('[data-run]')?.getAttribute('data-run'));
    await page.keyboard.press('j');
    expect(await focused()).to.equal(first);
    await page.keyboard.press('j');
    expect(await focused()).to.equal(second);
    await page.keyboard.press('k');
    expect(await focused()).to.equal(first);
    await page.keyboard.press('Enter');
    await page.waitForURL(new RegExp(`runs/${first ?? ''}$`));
  });

  it('shows a run that starts while the list is open, and what it waits for', async () => {
    await open('/runs');
    const id = await app.startRun('send_reminder "buy milk"', ['send_reminder']);
    await rowIs(id).getByText('Waiting for approval').waitFor();
    await page.getByRole('link', { name: 'Waits for someone' }).click();
    await range().getByText('1–1 of 1').waitFor();
    await app.server.host.module.loop.cancel(id);
    await page.getByText('No runs match these filters').waitFor();
  });

  it('finds runs from the command palette', async () => {
    const wanted = await app.startRun('Where is the timbuktu invoice?');
    await app.waitForEvent(wanted, 'run:completed');
    ({ context, page } = await app.openSignedIn('/tools'));
    await page.keyboard.press('Control+k');
    await page.getByRole('combobox').fill('timbuktu');
    await page.getByRole('option', { name: /Where is the timbuktu invoice/ }).click();
    await page.getByRole('heading', { name: /timbuktu/ }).waitFor();
    expect(app.consoleErrors).to.deep.equal([]);
  });
});
