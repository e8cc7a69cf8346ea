/** The dashboard in a real browser, served by plain Node with the vendor simulator. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { Simulator } from '../../imports/simulator/Simulator';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const EVERYTHING =
  'Use get_weather for Lisbon, send_reminder "take a coat", research_topic "harbour fog", render_video "fog over a harbour" 2 seconds, consult_expert "Is it safe to sail?"';

describe('the dashboard in Chromium', () => {
  let app: DashboardBrowser;
  let context: BrowserContext;
  let page: Page;
  withDashboard((started) => {
    app = started;
  });
  afterEach(async () => {
    await context.close();
    expect(app.consoleErrors.splice(0).filter((text) => !text.startsWith('Failed to load resource'))).to.deep.equal([]);
  });

  const open = async (path = '/'): Promise<void> => void ({ context, page } = await app.openSignedIn(path));
  const call = (name: string, state?: string, on = page) =>
    on.locator(`.call[data-name="${name}"]${state === undefined ? '' : `[data-state="${state}"]`}`);
  const row = (id: string, state?: string, on = page) =>
    on.locator(`.run-row[data-run="${id}"]${state === undefined ? '' : `[data-state="${state}"]`}`);
  const waitForRows = (amount: number) =>
    page.waitForFunction((expected) => document.querySelectorAll('.run-row').length === expected, amount);
  const executionId = async (): Promise<string> =>
    (await page.locator('[data-run]').first().getAttribute('data-run')) ?? '';
  /** The mark is lost when the page is reloaded. */
  const markPage = () => page.evaluate('window.isTheSamePage = true');
  const isSamePage = () => page.evaluate('window.isTheSamePage === true');

  it('asks for the token, rejects a wrong one, accepts the right one, and signs out', async () => {
    ({ context, page } = await app.newVisitor());
    await page.goto(app.server.url);
    await page.getByLabel('API token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'not valid on this server' }).waitFor();
    expect(await page.locator('aside').textContent(), 'the notice').to.include('SIMULATED');
    await page.getByLabel('API token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.evaluate('document.cookie'), 'scripts cannot read the cookie').to.equal('');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('takes the token from the URL and removes it there', async () => {
    await open();
    expect(page.url()).to.equal(`${app.server.url}/`);
    await page.goBack();
    expect(page.url()).not.to.include('token');
  });

  it('takes the token from the URL of a page that is already open', async () => {
    ({ context, page } = await app.newVisitor());
    await page.goto(app.server.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${app.server.url}/#token=${TOKEN}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).to.equal(`${app.server.url}/`);
  });

  it('shows the simulation notice and the empty state of every page', async () => {
    await open();
    for (const [path, text] of [
      ['/', 'No runs yet'],
      ['/runs', 'No runs yet'],
      ['/playground', 'No run yet'],
      ['/tools', 'No calls yet'],
      ['/providers', 'Default model'],
      ['/runs/unknown', 'This run doesn’t exist'],
      ['/nowhere', 'This page doesn’t exist'],
    ] as const) {
      await app.go(page, path);
      await page.getByText(text).first().waitFor();
      expect(await page.locator('aside').textContent(), path).to.include('SIMULATED');
    }
  });

  it('runs two blocking and three non-blocking tools, and shows every change live', async () => {
    await open('/playground');
    await markPage();
    for (const name of ['get_weather', 'send_reminder', 'research_topic', 'render_video', 'consult_expert'])
      await page.getByRole('checkbox', { name }).check();
    await page.getByLabel('Prompt').fill(EVERYTHING);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await call('send_reminder', 'awaiting_approval').waitFor();
    await call('get_weather', 'completed').waitFor();
    await call('consult_expert', 'executing').waitFor();
    const id = await executionId();
    await page.getByRole('link', { name: 'Open run' }).click();
    await page.locator('.run-page').waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await call('research_topic', 'completed').waitFor();
    await call('render_video', 'completed').waitFor();
    const eventsBefore = app.loggedEvents(id).length;
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await call('send_reminder', 'completed').waitFor();
    await page.locator('.run-page[data-state="waiting"]').waitFor();
    await page.getByLabel('Result (sent to the model)').fill('Stay in the harbour.');
    await page.getByRole('button', { name: 'Submit result' }).click();
    await call('consult_expert', 'completed').waitFor();
    await page.locator('.run-page[data-state="completed"]').waitFor();
    await page.getByText('Stay in the harbour.').first().waitFor();
    // The stored state may arrive before the last events, and stands in for them until then.
    await page.locator('[data-event="run:completed"][data-derived="false"]').waitFor();
    const log = await page
      .locator('[data-event]')
      .evaluateAll((entries) =>
        entries.map((entry) => [
          entry.getAttribute('data-event'),
          entry.querySelector('.event-detail')?.textContent.split(' · ')[0] ?? '',
        ]),
      );
    const shown = log.map(([type, name = '']) =>
      type?.startsWith('tool:') === true || type === 'result:arrived' ? `${type} ${name}` : type,
    );
    const expected = app.loggedEvents(id).slice(eventsBefore);
    expect(shown.slice(-expected.length), 'every event since the approval').to.deep.equal(expected);
    for (const type of [
      'tool:executing send_reminder',
      'tool:completed send_reminder',
      'result:arrived consult_expert',
      'nonblocking:llm_response',
      'run:completed',
    ])
      expect(expected).to.include(type);
    expect(await isSamePage(), 'no reload').to.equal(true);
    const bars = await page
      .locator('.lane')
      .evaluateAll((lanes) =>
        lanes.map((lane) => [lane.getAttribute('aria-label'), lane.querySelectorAll('[data-call]').length]),
      );
    expect(bars).to.deep.equal([
      ['Model', 0],
      ['Blocking tools', 2],
      ['Non-blocking tools', 3],
    ]);
    expect(await page.locator('.fact').filter({ hasText: 'Tokens' }).locator('dd').textContent()).to.match(/^[1-9]/);
  });

  it('sends the reason of a rejection to the model', async () => {
    await open('/playground');
    await page.getByRole('button', { name: 'Tool that needs approval' }).click();
    await page.getByLabel('Prompt').focus();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Reject…' }).click();
    await page.getByLabel('Reason (sent to the model, optional)').fill('They have no plants.');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await call('send_reminder', 'failed').waitFor();
    await page.locator('.turn[data-state="completed"]').waitFor();
    await page.locator('.answer-text').filter({ hasText: 'They have no plants.' }).first().waitFor();
  });

  it('shows the same in two browsers, continues after a reload, and cancels a run', async () => {
    await open('/runs');
    const other = await app.openSignedIn('/runs');
    const id = await app.startRun('render_video "a long night" 60 seconds', ['render_video']);
    await row(id).waitFor();
    await row(id, undefined, other.page).waitFor();
    await app.waitForEvent(id, 'tool:executing', 'render_video');
    await row(id).locator('a').click();
    await call('render_video', 'executing').waitFor();
    await page.reload();
    await call('render_video', 'executing').waitFor();
    await call('render_video').locator('summary').click();
    const progress = page.locator('progress');
    const early = await progress.evaluate((bar: HTMLProgressElement) => bar.value);
    await page.waitForFunction((value) => (document.querySelector('progress')?.value ?? 0) > value, early);
    await page.getByText('render_video "a long night"').first().waitFor();
    await page.getByRole('button', { name: 'Cancel run' }).click();
    await page.locator('.run-page[data-state="cancelled"]').waitFor();
    await call('render_video', 'cancelled').waitFor();
    await row(id, 'cancelled', other.page).waitFor();
    expect(await page.getByRole('button', { name: 'Cancel run' }).count()).to.equal(0);
    await other.context.close();
  });

  it('finds the pending approvals after a reload, and approves the shown arguments', async () => {
    const id = await app.startRun('send_reminder "buy bread"', ['send_reminder']);
    await app.waitForEvent(id, 'tool:approval_required');
    await open('/runs');
    await row(id).getByText('Waiting for approval').waitFor();
    await page.getByRole('link', { name: 'Waits for someone' }).click();
    await page.getByRole('button', { name: 'Remove filter: Waits for someone' }).waitFor();
    await row(id).getByText('Waiting for approval').waitFor();
    await row(id).locator('a').click();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.locator('.run-page[data-state="completed"]').waitFor();
    await call('send_reminder').locator('summary').click();
    await call('send_reminder').filter({ hasText: '"noted": "buy bread"' }).waitFor();
  });

  it('filters by state, provider and text, and keeps the filter in the URL', async () => {
    const failing = await app.startRun('fail please', [], 'groq');
    await app.waitForEvent(failing, 'run:completed');
    await open('/runs');
    await row(failing, 'completed').waitFor();
    const all = await page.locator('.run-row').count();
    await page.getByRole('combobox', { name: 'Provider' }).selectOption('groq');
    await waitForRows(1);
    await page.reload();
    await row(failing).waitFor();
    await waitForRows(1);
    await page.getByRole('combobox', { name: 'Provider' }).selectOption('');
    await waitForRows(all);
    await page.getByRole('combobox', { name: 'State' }).selectOption('cancelled');
    await waitForRows(1);
    expect(await page.locator('.run-row').getAttribute('data-state')).to.equal('cancelled');
    await page.getByRole('button', { name: 'Clear all' }).click();
    await waitForRows(all);
    await page.getByRole('searchbox').fill('bread buy');
    await waitForRows(1);
    await page.getByRole('searchbox').fill('no such words anywhere');
    await page.getByText('No runs match these filters').waitFor();
  });

  it('counts tool calls as they happen', async () => {
    await open('/tools');
    const card = page.locator('[data-tool="get_time"]');
    await card.getByText('No calls yet').waitFor();
    await app.startRun('get_time', ['get_time']);
    await card.getByText('1 call', { exact: false }).first().waitFor();
    await card.getByText('Completed').waitFor();
  });

  it('tests a provider', async () => {
    await open('/providers');
    const card = page.locator('[data-provider="google"]');
    await card.getByRole('button', { name: 'Test' }).click();
    await card.getByText('The vendor accepted the credential').waitFor();
  });

  it('opens a run from the top of the page by keyboard', async () => {
    await open('/runs');
    await page.reload();
    await page.locator('.run-row').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal('Skip to content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('bolide-content');
    for (
      let step = 0;
      step < 20 && !(await page.evaluate(() => document.activeElement?.closest('.run-row') !== null));
      step += 1
    )
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await page.locator('.run-page').waitFor();
    // The heading of the new page.
    await page.waitForFunction(() => document.activeElement?.tagName === 'H1');
    await page.locator('.call summary').first().focus();
    await page.keyboard.press('Enter');
    expect(await page.locator('.call[open]').count()).to.equal(1);
  });

  it('reports a lost connection, and recovers from it', async () => {
    await open('/runs');
    await page.locator('.run-row').first().waitFor();
    const rows = await page.locator('.run-row').count();
    await context.setOffline(true);
    await page.getByText('Connection lost').waitFor();
    expect(await page.locator('.run-row').count(), 'loaded rows stay').to.equal(rows);
    const id = await app.startRun('while you were away');
    await context.setOffline(false);
    await row(id).waitFor();
    await page.getByText('Live', { exact: true }).first().waitFor();
    app.consoleErrors.splice(0);
  });

  it('shows why a page could not be loaded, and retries', async () => {
    await open('/');
    let isBroken = true;
    await page.route('**/tools', (route) =>
      isBroken
        ? route.fulfill({ status: 503, json: { error: { code: 'overloaded', message: 'Too much to do.' } } })
        : route.continue(),
    );
    await app.go(page, '/tools');
    await page.getByRole('alert').filter({ hasText: 'Too much to do.' }).waitFor();
    isBroken = false;
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.locator('[data-tool]').first().waitFor();
    app.consoleErrors.splice(0);
  });
});

describe('an answer that arrives slowly, in Chromium', () => {
  let app: DashboardBrowser;
  let vendor: Simulator;
  withDashboard(
    async (started) => {
      app = started;
      vendor = await startSimulator();
      await app.server.host.providers.service.create({
        ...{ providerId: 'slow', name: 'Slow', vendor: 'anthropic', baseURL: vendor.baseURL('anthropic') },
        ...{ auth: { kind: 'api_key' }, apiKey: 'sk-slow', access: 'everyone', defaultModel: 'claude-sonnet-4-5' },
      });
    },
    { env: { AI_ALLOW_PRIVATE_HOSTS: 'true' } },
  );
  after(() => (vendor as Simulator | undefined)?.close());

  it('is shown while the model streams it', async () => {
    const { context, page } = await app.openSignedIn('/playground');
    await page.getByRole('combobox', { name: 'Model' }).selectOption('slow/claude-sonnet-4-5');
    // It takes several seconds, longer than a slow page pauses between updates.
    const text = 'Meteors that are seen by many people have names. '.repeat(40);
    vendor.enqueue({ text, fault: { kind: 'slow', chunkBytes: 256, delayMs: 40 } });
    await page.getByLabel('Prompt').fill('What are meteors called?');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    const live = page.locator('[data-live-text]');
    const lengthOf = async (): Promise<number> => (await live.textContent())?.length ?? 0;
    await live.waitFor();
    const first = await lengthOf();
    await page.waitForFunction(
      (length) => (document.querySelector('[data-live-text]')?.textContent.length ?? 0) > length,
      first,
    );
    expect(first).to.be.below(text.length);
    await page.locator('.turn[data-state="completed"]').waitFor();
    expect(await live.count(), 'nothing is left streaming at the end').to.equal(0);
    expect(await page.locator('.answer-text').filter({ hasText: 'Meteors that are seen' }).count(), 'once').to.equal(1);
    await context.close();
    expect(app.consoleErrors.splice(0)).to.deep.equal([]);
  });
});
