/** The audit trail in Chromium: live, filtered, paged and saved, by admins and by users. */
import { readFile } from 'node:fs/promises';
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import type { AuditEntry } from '../../imports/business/ai/domain/types/AuditEntries';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;

describe('the audit trail in Chromium', () => {
  let app: DashboardBrowser;
  const contexts: BrowserContext[] = [];
  withDashboard((started) => {
    app = started;
  });
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    expect(app.consoleErrors.splice(0)).to.deep.equal([]);
  });

  const open = async (path: string): Promise<Page> => {
    const { context, page } = await app.openSignedIn(path);
    contexts.push(context);
    return page;
  };
  const list = async (filter: object = {}): Promise<readonly AuditEntry[]> =>
    (await app.server.host.operations['ai.audit.list'](ADMIN, { limit: 200, ...filter })).entries;
  /** Waits until the page shows exactly the entries of the filter's first page, newest first. */
  const shows = async (page: Page, filter: object): Promise<readonly AuditEntry[]> => {
    const entries = await list({ ...filter, limit: 50 });
    await page.waitForFunction(
      (wanted) =>
        document.querySelector('[aria-busy="true"]') === null &&
        [...document.querySelectorAll('[data-audit]')].map((row) => row.getAttribute('data-audit')).join() === wanted,
      entries.map(({ _id }) => _id).join(),
    );
    expect(entries).not.to.be.empty;
    return entries;
  };

  it('shows what is done as it is done, and filters it, in the address', async () => {
    const page = await open('/audit');
    await page.locator('[data-audit]').getByText('Sign in').first().waitFor();
    const { operations } = app.server.host;
    await operations['ai.queue.pause'](ADMIN);
    await page.locator('[data-audit]').getByText('Pause the queue').waitFor();
    await operations['ai.queue.resume'](ADMIN);
    const { id } = await operations['ai.tokens.create'](ADMIN, { name: 'For CI', scopes: ['read'] });
    await operations['ai.tokens.update'](ADMIN, { id, models: ['gpt-5-mini'], tags: ['ci'] });
    await operations['ai.prompts.remove'](ADMIN, { promptId: 'none' }).catch(() => undefined);
    await shows(page, {});
    const changed = page.locator('[data-audit]').filter({ hasText: 'Change an API token' });
    expect(await changed.textContent())
      .to.contain('Set: tags, models')
      .and.to.contain(id);
    const refused = page.locator('[data-audit][data-outcome="refused"]');
    expect(await refused.textContent())
      .to.contain('Remove a prompt')
      .and.to.contain('Refused')
      .and.to.contain('not-found');

    await page.getByRole('combobox', { name: 'About' }).selectOption({ label: 'API tokens' });
    await shows(page, { kind: 'token' });
    expect(page.url()).to.include('kind=token');
    await page.reload();
    await shows(page, { kind: 'token' });
    await page.getByRole('button', { name: 'Remove filter: API tokens' }).click();
    await page.getByRole('combobox', { name: 'Action' }).selectOption({ label: 'Pause the queue' });
    await shows(page, { action: 'queue.pause' });
    await page.getByRole('button', { name: 'Remove filter: Pause the queue' }).click();
    await page.getByRole('button', { name: 'More filters' }).click();
    await page.getByRole('combobox', { name: 'Via' }).selectOption({ label: 'Dashboard' });
    await shows(page, { via: 'dashboard' });
    await page.getByRole('button', { name: 'Remove filter: Via Dashboard' }).click();
    await page.getByRole('searchbox').fill('for ci');
    await shows(page, { search: 'for ci' });
    await page.getByRole('link', { name: 'Refused', exact: true }).click();
    await shows(page, { outcome: 'refused' });
  });

  it('has pages, and saves all of them', async () => {
    for (let count = 0; count < 230; count += 1)
      await app.server.host.audit.record(ADMIN, {
        action: 'budget.set',
        subject: { kind: 'budget', id: `user-${count}`, ownerId: `user-${count}` },
      });
    const page = await open('/audit?action=budget.set');
    const [newest] = await shows(page, { action: 'budget.set' });
    expect(newest?.subject.id).to.equal('user-229');
    await page.locator('.paging [role="status"]').getByText('1–50 of 230').waitFor();
    await page.getByRole('button', { name: 'Next' }).click();
    await page.locator('.paging [role="status"]').getByText('51–100 of 230').waitFor();
    await page.getByText('user-179').waitFor();
    const save = async (name: string): Promise<string> => {
      const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('button', { name }).click()]);
      return readFile(await download.path(), 'utf8');
    };
    const rows = (await save('Export CSV')).trimEnd().split('\r\n');
    expect(rows).to.have.length(231);
    expect(rows[1]).to.contain(',user-0,user-0,done,');
    const lines = (await save('Export JSON lines')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as AuditEntry).subject.id)).to.deep.equal(
      Array.from({ length: 230 }, (_, index) => `user-${index}`),
    );
  });
});
