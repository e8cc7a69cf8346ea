/** The inbox in a real browser: what operators decide, and what must not happen while they do. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import type { WaitingRunInit } from '../support/waitingRun';
import { leaveWaitingRun } from '../support/waitingRun';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';
import { runRequest, toolCall } from '../support/runRequests';
import { until } from '../support/until';

const HOSTILE = [
  '<img src=x onerror="window.wasScripted=true"><script>window.wasScripted=true</script>',
  '\u202Egpj.exe\u2066 hidden \u2069',
  '\ud800 lone',
];

/** A script as text, since a compiled function refers to helpers that the page lacks. */
const RECORDED_NOTIFICATIONS = `
  window.shown = [];
  window.Notification = class {
    static permission = 'granted';
    constructor(title, { body }) {
      this.body = body;
      window.shown.push(this);
    }
    close() {}
  };
`;

/**
 * Clicks the first "Approve", and once more what is at its place as soon as its entry has gone. The page handles the
 * second click only after a second. As text, as above.
 */
const DOUBLE_CLICK = `
  const button = document.querySelector('[data-action="approve"]');
  const { x, y } = button.getBoundingClientRect();
  const click = (detail) => new MouseEvent('click', { bubbles: true, cancelable: true, detail });
  const entry = button.closest('[data-entry]');
  new MutationObserver((_, observer) => {
    if (entry.isConnected) return;
    observer.disconnect();
    const second = click(2);
    setTimeout(() => document.elementFromPoint(x + 5, y + 5).dispatchEvent(second), 1_000);
  }).observe(document.body, { childList: true, subtree: true });
  button.dispatchEvent(click(1));
`;

describe('the inbox in Chromium', () => {
  let app: DashboardBrowser;
  const contexts: BrowserContext[] = [];
  /** What the tools did, in order. */
  const effects: string[] = [];
  let count = 0;
  withDashboard(async (started) => {
    app = started;
    const { tools } = app.server.host.module;
    const parameters = { type: 'object', properties: { note: { type: 'string' } }, required: ['note'] } as const;
    for (const name of ['charge', 'pay'])
      tools.register({
        name,
        description: 'Takes money.',
        parameters,
        needsApproval: name === 'charge',
        execute: ({ note }: { note: string }) => {
          effects.push(`${name} ${note}`);
          return `took ${note.slice(0, 20)}`;
        },
      });
  });
  beforeEach(() => void effects.splice(0));
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close();
    const { loop, runs } = app.server.host.module;
    for (const executionId of await runs.unfinishedOf('local', 1_000)) {
      await loop.cancel(executionId);
      await until(async () => (await runs.load(executionId))?.run.endedAt !== undefined);
    }
    expect(app.consoleErrors.splice(0).filter((text) => !text.startsWith('Failed to load resource'))).to.deep.equal([]);
  });

  const open = async (path = '/inbox'): Promise<Page> => {
    const { context, page } = await app.openSignedIn(path);
    contexts.push(context);
    return page;
  };
  const wait = async (fields: Partial<WaitingRunInit> & Pick<WaitingRunInit, 'waitsFor'>): Promise<string> => {
    const executionId = `run-${(count += 1)}`;
    await leaveWaitingRun(app.server.host.module, {
      executionId,
      userId: 'local',
      providerId: 'openai',
      tool: fields.waitsFor === 'approval' ? 'charge' : 'pay',
      arguments: { note: executionId },
      ...fields,
    });
    return executionId;
  };
  const entry = (page: Page, executionId: string) => page.locator(`[data-entry="${executionId}:call"]`);
  const focusedEntry = (page: Page): Promise<string | undefined> =>
    page.evaluate(() => document.activeElement?.closest<HTMLElement>('[data-entry]')?.dataset['entry']);
  const stateOf = async (executionId: string): Promise<string | undefined> =>
    (await app.server.host.module.runs.load(executionId))?.calls[0]?.state;
  const gone = (page: Page, executionId: string) => entry(page, executionId).waitFor({ state: 'detached' });

  it('approves 20 calls by keyboard, each exactly once, and keeps one that fails with its error', async () => {
    const ids: string[] = [];
    for (let index = 0; index < 20; index += 1) ids.push(await wait({ waitsFor: 'approval' }));
    const page = await open();
    await page.locator('[data-entry]').nth(19).waitFor();
    expect(await page.title()).to.equal('(20) Inbox · Bolide');
    await page.getByRole('link', { name: 'Inbox 20 waiting' }).waitFor();
    const failing = ids[4] ?? '';
    await page.route(`**/runs/${failing}/approve`, (route) => route.abort(), { times: 1 });
    await page.keyboard.press('j');
    for (const id of ids) {
      expect(await focusedEntry(page)).to.equal(`${id}:call`);
      await page.keyboard.press('a');
    }
    for (const id of ids) if (id !== failing) await gone(page, id);
    await entry(page, failing).getByRole('alert').waitFor();
    expect(effects.toSorted()).to.deep.equal(
      ids
        .filter((id) => id !== failing)
        .map((id) => `charge ${id}`)
        .toSorted(),
    );
    await page.getByRole('link', { name: 'Inbox 1 waiting' }).waitFor();
    await page.keyboard.press('k');
    expect(await focusedEntry(page)).to.equal(`${failing}:call`);
    await page.keyboard.press('a');
    await gone(page, failing);
    await page.getByText('Nothing waits for anyone').waitFor();
    expect(effects).to.have.length(20);
    expect(new Set(effects)).to.have.property('size', 20);
    await page.waitForFunction(() => document.title === 'Inbox · Bolide');
  });

  const park = async (): Promise<string> => {
    const executionId = `run-${(count += 1)}`;
    const { runs } = app.server.host.module;
    const { plan } = runRequest(executionId);
    const lease = await runs.create(
      runRequest(executionId, {
        userId: 'local',
        title: executionId,
        plan: { ...plan, options: { model: 'openai' }, tools: ['charge'] },
      }),
      'running',
      'gone',
    );
    // After it is resumed, the run waits for it.
    await runs.saveCalls(lease, [
      toolCall('call', {
        name: 'charge',
        arguments: '{"note":"x"}',
        state: 'awaiting_approval',
        blocking: false,
        createdAt: Date.now(),
        expiresAt: Date.now() + 3_600_000,
      }),
    ]);
    const message =
      'The run was set aside because 5 processes in a row died after taking it over. Most likely the run itself is the cause.';
    await runs.park(lease, { reason: 'max-takeovers', message, at: Date.now() });
    return executionId;
  };

  it('resumes parked runs, and cancels them, from the list and from their page', async () => {
    const [resumed, cancelled, opened] = [await park(), await park(), await park()];
    const page = await open('/inbox?kind=parked');
    const parked = (executionId: string) => page.locator(`[data-entry="${executionId}"][data-kind="parked"]`);
    await parked(resumed).getByText('5 processes in a row').waitFor();
    await parked(resumed).getByRole('button', { name: 'Resume' }).click();
    await parked(resumed).waitFor({ state: 'detached' });
    await page.getByText(`Resumed the run “${resumed}”.`).waitFor();
    // Clicks just after the list has moved are ignored; it has not in a page that was just opened.
    await page.reload();
    await parked(cancelled).getByRole('button', { name: 'Cancel run' }).click();
    await parked(cancelled).waitFor({ state: 'detached' });
    const { loop, runs } = app.server.host.module;
    expect((await runs.head(resumed))?.owner).to.equal(loop.claims.ownerId);
    expect((await runs.head(cancelled))?.state).to.equal('cancelled');
    await parked(opened).getByRole('link', { name: opened }).click();
    const notice = page.getByRole('region', { name: 'This run is parked' });
    await notice.getByText('no process executes this run').waitFor();
    await page.locator('.run-actions').getByText('Parked').waitFor();
    await notice.getByRole('button', { name: 'Run again…' }).click();
    await page.getByRole('heading', { name: 'Run again' }).waitFor();
    await notice.getByRole('button', { name: 'Resume' }).click();
    await notice.waitFor({ state: 'detached' });
    await page.locator('.run-actions').getByText('Waiting for approval').waitFor();
  });

  it('approves one entry while the key is held down', async () => {
    const ids = [await wait({ waitsFor: 'approval' }), await wait({ waitsFor: 'approval' })];
    const page = await open();
    await page.locator('[data-entry]').nth(1).waitFor();
    await page.keyboard.press('j');
    for (let repeat = 0; repeat < 5; repeat += 1) await page.keyboard.down('a');
    await page.keyboard.up('a');
    await gone(page, ids[0] ?? '');
    expect(await focusedEntry(page)).to.equal(`${ids[1] ?? ''}:call`);
    expect(await stateOf(ids[1] ?? '')).to.equal('awaiting_approval');
    expect(effects).to.deep.equal([`charge ${ids[0] ?? ''}`]);
  });

  it('ignores the second click of a double click, which meets the entry that moved up, however late it is handled', async () => {
    const ids = [await wait({ waitsFor: 'approval' }), await wait({ waitsFor: 'approval' })];
    const page = await open();
    await entry(page, ids[1] ?? '').waitFor();
    await page.evaluate(DOUBLE_CLICK);
    await page.getByText('The list has just changed.').waitFor();
    expect(await stateOf(ids[1] ?? '')).to.equal('awaiting_approval');
    expect(effects).to.deep.equal([`charge ${ids[0] ?? ''}`]);
  });

  it('rejects with a reason, and opens the run with Enter', async () => {
    const [first, second] = [await wait({ waitsFor: 'approval' }), await wait({ waitsFor: 'approval' })];
    const page = await open();
    await entry(page, second).waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('r');
    await page.keyboard.type('Not today.');
    await page.keyboard.press('Enter');
    await gone(page, first);
    await until(async () => (await stateOf(first)) === 'failed');
    const call = (await app.server.host.module.runs.load(first))?.calls[0];
    expect(call && 'error' in call ? call.error.message : '').to.include('Not today.');
    expect(await focusedEntry(page)).to.equal(`${second}:call`);
    await page.keyboard.press('Enter');
    await page.locator('.run-page').waitFor();
    expect(page.url()).to.include(second);
    expect(effects).to.deep.equal([]);
  });

  it('offers all three decisions on an interrupted call', async () => {
    const [rerun, unknown, entered] = [
      await wait({ waitsFor: 'review' }),
      await wait({ waitsFor: 'review' }),
      await wait({ waitsFor: 'review' }),
    ];
    const page = await open('/inbox?kind=review');
    await entry(page, rerun).getByRole('button', { name: 'Run again…' }).click();
    await entry(page, rerun).getByRole('button', { name: 'Run again', exact: true }).click();
    await gone(page, rerun);
    await until(() => effects.length === 1);
    await entry(page, unknown).getByRole('button', { name: 'Outcome unknown…' }).click();
    await entry(page, unknown).getByLabel('Reason').fill('The bank does not answer.');
    // A click so soon after the list has changed decides nothing.
    await entry(page, unknown).getByRole('button', { name: 'Report as unknown' }).press('Enter');
    await gone(page, unknown);
    await entry(page, entered).getByRole('button', { name: 'Enter the result…' }).click();
    await entry(page, entered).getByRole('radio', { name: 'JSON' }).check();
    await entry(page, entered).getByLabel('Result as JSON').fill('{"paid": ');
    await entry(page, entered).getByRole('button', { name: 'Submit result' }).press('Enter');
    await entry(page, entered).getByText('This is not JSON').waitFor();
    await entry(page, entered).getByLabel('Result as JSON').fill('{"paid": true}');
    await entry(page, entered).getByRole('button', { name: 'Submit result' }).press('Enter');
    await gone(page, entered);
    const outcomes: unknown[] = [];
    for (const id of [rerun, unknown, entered]) {
      await until(async () => ['completed', 'failed'].includes((await stateOf(id)) ?? ''));
      const call = (await app.server.host.module.runs.load(id))?.calls[0];
      outcomes.push(call && ('result' in call ? call.result : 'error' in call ? call.error.message : call.state));
    }
    expect(outcomes).to.deep.equal([
      `took ${rerun}`,
      'It is not known whether the tool took effect, and it was not run again: The bank does not answer.',
      '{"paid":true}',
    ]);
    expect(effects).to.deep.equal([`pay ${rerun}`]);
  });

  it('offers them on the run’s page, too', async () => {
    const id = await wait({ waitsFor: 'review' });
    const page = await open(`/runs/${id}`);
    await page.getByText('Waiting for review').first().waitFor();
    await page.getByRole('button', { name: 'Run again…' }).first().waitFor();
    await page.getByRole('button', { name: 'Enter the result…' }).waitFor();
    await page.getByRole('button', { name: 'Outcome unknown…' }).click();
    await page.getByRole('button', { name: 'Report as unknown' }).click();
    await until(async () => (await stateOf(id)) === 'failed');
  });

  it('shows a notice, and no error, when another person was faster', async () => {
    const id = await wait({ waitsFor: 'approval' });
    const [fast, slow] = [await open(), await open()];
    for (const page of [fast, slow]) await entry(page, id).waitFor();
    // The second operator decides before the list is loaded again.
    await slow.route('**/inbox?*', () => undefined);
    await entry(fast, id).getByRole('button', { name: 'Approve' }).click();
    await gone(fast, id);
    await until(() => effects.length === 1);
    await slow.keyboard.press('j');
    await slow.keyboard.press('r');
    await slow.keyboard.press('Enter');
    await gone(slow, id);
    await slow.getByText('Charge no longer waits: it was decided elsewhere.').waitFor();
    expect(await slow.getByRole('alert').count()).to.equal(0);
    expect(await slow.locator('[data-entry]').count()).to.equal(0);
    expect(effects).to.deep.equal([`charge ${id}`]);
  });

  it('removes what was decided elsewhere with a notice, and gives the focus to no other entry', async () => {
    const [first, second] = [await wait({ waitsFor: 'approval' }), await wait({ waitsFor: 'approval' })];
    const page = await open();
    await entry(page, second).waitFor();
    await page.keyboard.press('j');
    await app.server.host.module.loop.approve(first, 'call');
    await gone(page, first);
    await page.getByText('Charge no longer waits: it was decided elsewhere.').waitFor();
    expect(await focusedEntry(page)).to.equal(undefined);
    await page.keyboard.press('a');
    await page.keyboard.press('j');
    expect(await focusedEntry(page)).to.equal(`${second}:call`);
    expect(await stateOf(second)).to.equal('awaiting_approval');
  });

  it('shows hostile arguments as text, and has long ones approved only once they are complete', async () => {
    const note = `${HOSTILE.join(' ')} ${'x'.repeat(1_000_000)}`;
    const id = await wait({ waitsFor: 'approval', arguments: { note }, title: HOSTILE[0] ?? '' });
    const page = await open();
    await page.getByText('of 1.0M characters are shown').waitFor();
    await page.keyboard.press('j');
    await page.keyboard.press('a');
    await page.getByText('These are the complete arguments.').waitFor();
    await page.getByText('of 1.0M characters are shown').waitFor({ state: 'detached' });
    expect(await stateOf(id)).to.equal('awaiting_approval');
    expect(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth)).to.equal(true);
    await page.keyboard.press('a');
    await gone(page, id);
    await until(() => effects.length === 1);
    expect(effects[0] === `charge ${note}`, 'the arguments are unchanged').to.equal(true);
    expect(await page.evaluate('window.wasScripted')).to.equal(undefined);
  });

  it('runs a failed run again, dismisses another, and lists neither any more', async () => {
    const { runs } = app.server.host.module;
    for (const id of ['failed-1', 'failed-2']) {
      const plan = { ...runRequest(id).plan, tools: [], options: { model: 'openai' } };
      const lease = await runs.create(runRequest(id, { userId: 'local', plan }), 'running', 'gone');
      const error = { code: 'overloaded', message: 'Try later.', retryable: true } as const;
      await runs.saveRun(lease, { state: 'failed', error, endedAt: Date.now() });
    }
    const page = await open('/inbox?kind=failed');
    const failed = (id: string) => page.locator(`[data-entry="${id}"]`);
    await failed('failed-2').getByText('Try later.').waitFor();
    await page.keyboard.press('j');
    await failed('failed-1').getByRole('button', { name: 'Run again' }).press('Enter');
    await failed('failed-1').waitFor({ state: 'detached' });
    await page.keyboard.press('d');
    await failed('failed-2').waitFor({ state: 'detached' });
    await page.getByText('Nothing here').waitFor();
    const started = app.events.find((event) => event.type === 'run:started' && event.title === 'A question');
    await app.waitForEvent(started?.executionId ?? '', 'run:completed');
    await page.reload();
    await page.getByText('Nothing here').waitFor();
  });

  it('notifies of a new entry while the page is hidden, without its arguments, and leads to it', async () => {
    const { context, page } = await app.newVisitor({ permissions: ['notifications'] });
    contexts.push(context);
    await page.addInitScript(RECORDED_NOTIFICATIONS);
    await page.goto(`${app.server.url}/#token=${TOKEN}`);
    await page.waitForSelector('h1:text("Overview")');
    await app.go(page, '/inbox');
    await page.getByRole('button', { name: 'Notify me' }).click();
    await page.getByRole('button', { name: 'Notifications on' }).waitFor();
    await wait({ waitsFor: 'approval' });
    // What notifies has a list of its own.
    await page.locator('.nav-count').waitFor();
    expect(await page.evaluate('shown.length'), 'while the page is visible').to.equal(0);
    await page.evaluate(() =>
      Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true }),
    );
    const id = await wait({ waitsFor: 'approval', arguments: { note: 'a secret' }, title: 'a private question' });
    await until(async () => (await page.evaluate('shown.length')) === 1);
    expect(await page.evaluate('shown[0].body')).to.equal('charge waits for approval.');
    await page.evaluate(() => Object.defineProperty(document, 'visibilityState', { value: 'visible' }));
    await page.evaluate('shown[0].onclick()');
    await entry(page, id).waitFor();
    await until(async () => (await focusedEntry(page)) === `${id}:call`);
  });
});
