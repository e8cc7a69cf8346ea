/** What people do on the page Memory, in a browser. */
import { expect } from 'chai';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

describe('the page Memory of the dashboard', () => {
  let app: DashboardBrowser;
  withDashboard((started) => {
    app = started;
  });

  it('adds, finds and deletes what is remembered', async () => {
    const { context, page } = await app.newVisitor();
    await page.goto(`${app.server.url}/#token=${TOKEN}`);
    await page.waitForSelector('h1');
    await app.go(page, '/memory');
    await page.getByText('Nothing is remembered yet').waitFor();
    for (const text of ['Prefers answers in French.', 'Her dog is called Rex.\n<b>Rex</b>', 'x'.repeat(4_001)]) {
      await page.getByRole('button', { name: 'New memory' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Text').fill(text);
      await dialog.getByRole('button', { name: 'Save memory' }).click();
      if (text.length <= 4_000) await dialog.waitFor({ state: 'detached' });
      else {
        expect(await dialog.getByRole('alert').textContent()).to.include('no longer than 4000 characters');
        await dialog.getByRole('button', { name: 'Cancel' }).click();
      }
    }
    const rows = page.locator('[data-memory]');
    expect(await rows.count()).to.equal(2);
    await page.getByLabel('Search memories').fill('dog');
    await page.getByText('No model for embeddings is configured').waitFor();
    expect(await rows.count()).to.equal(1);
    expect(await rows.textContent()).to.include('<b>Rex</b>');
    await rows.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Delete memory' }).click();
    await page.getByText('Nothing found').waitFor();
    await page.getByRole('link', { name: 'Show all memories' }).click();
    await page.getByText('Prefers answers in French.').waitFor();
    await page.getByRole('button', { name: 'Delete all' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete all' }).click();
    await page.getByText('Nothing is remembered yet').waitFor();
    // That of the refused text.
    expect(app.consoleErrors.filter((text) => !text.includes('status of 400'))).to.deep.equal([]);
    await context.close();
  });
});
