/** One way through the dashboard in Chromium: from the sign-in page to the result of a run that a person approved. */
import { expect } from 'chai';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

describe('the dashboard in Chromium', () => {
  let app: DashboardBrowser;
  withDashboard((started) => {
    app = started;
  });

  it('signs in, starts a run in the playground, approves its call, and shows what came of it', async () => {
    const { context, page } = await app.newVisitor();
    await page.goto(app.server.url);
    await page.getByLabel('API token').fill(TOKEN);
    // Chromium reports the answer to a visitor who is not signed in.
    expect(app.consoleErrors.splice(0).join()).to.include('401 (Unauthorized)');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await app.go(page, '/playground');
    await page.getByRole('button', { name: 'Tool that needs approval' }).click();
    await page.getByLabel('Prompt').press('Control+Enter');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    const turn = page.locator('.turn[data-state="completed"]');
    await turn.waitFor();
    const id = (await turn.getAttribute('data-run')) ?? '';
    await app.go(page, `/runs/${id}`);
    await page.locator('[data-call][data-name="send_reminder"][data-state="completed"]').first().waitFor();
    await context.close();
    expect(app.consoleErrors).to.deep.equal([]);
  });
});
