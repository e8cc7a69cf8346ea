/** What an admin does on the page Routing, in a browser. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { until } from '../support/until';
import { withDashboard } from '../support/withDashboard';

describe('the page Routing of the dashboard', () => {
  let app: DashboardBrowser;
  const contexts: BrowserContext[] = [];
  withDashboard(
    (started) => {
      app = started;
    },
    { env: { LLM_ROUTING: '{ "steady": "openai" }' } },
  );
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
  });

  const open = async (): Promise<Page> => {
    const { context, page } = await app.newVisitor();
    contexts.push(context);
    await page.goto(`${app.server.url}/#token=${TOKEN}`);
    await page.waitForSelector('h1');
    await app.go(page, '/routing');
    await page.waitForSelector('[data-rule="steady"]');
    return page;
  };
  const providerOf = async (model: string): Promise<string | null> => {
    const response = await fetch(`${app.server.url}/v1/responses`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model, input: 'Hello' }),
    });
    return response.status === 200 ? response.headers.get('x-bolide-provider') : null;
  };

  it('creates a rule that serves at once, with objections at their fields', async () => {
    const page = await open();
    expect(await providerOf('quick')).to.equal(null);
    await page.getByRole('button', { name: 'New rule' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('quick');
    await dialog.getByLabel('Targets').fill('groq\nnobody/model 2');
    await dialog.getByLabel('Timeout of an attempt').fill('soon');
    await dialog.getByRole('button', { name: 'Save rule' }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByRole('alert').textContent()).to.include('"timeout" must be an integer');
    await dialog.getByLabel('Timeout of an attempt').fill('30000');
    await dialog.getByRole('button', { name: 'Save rule' }).click();
    const row = page.locator('[data-rule="quick"]');
    await row.waitFor();
    expect(await row.textContent())
      .to.include('There is no provider "nobody".')
      .and.include('30');
    expect(await providerOf('quick')).to.equal('groq');
  });

  it('shows what another admin changes, replaces a rule of the settings, and resets it', async () => {
    const page = await open();
    await fetch(`${app.server.url}/routing/quick`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ targets: ['anthropic'], strategy: 'latency' }),
    });
    await page.locator('[data-rule="quick"] [data-target="anthropic"]').waitFor();
    await page.getByRole('button', { name: 'Edit: steady' }).click();
    await page.getByRole('dialog').getByLabel('Targets').fill('google');
    await page.getByRole('dialog').getByRole('button', { name: 'Save rule' }).click();
    await page.locator('[data-rule="steady"] [data-target="google"]').waitFor();
    expect(await providerOf('steady')).to.equal('google');
    await page.getByRole('button', { name: 'Reset: steady' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Reset rule' }).click();
    await page.locator('[data-rule="steady"] [data-target="openai"]').waitFor();
    expect(await providerOf('steady')).to.equal('openai');
  });

  it('deletes a rule', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'Delete: quick' }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Delete rule' }).click();
    await page.locator('[data-rule="quick"]').waitFor({ state: 'detached' });
    await until(async () => (await providerOf('quick')) === null);
  });
});
