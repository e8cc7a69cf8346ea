/** The dashboard in a real browser, over plain Node and the vendor simulator. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { DashboardBrowser, TOKEN } from '../support/DashboardBrowser';

const EVERYTHING =
  'Use get_weather for Lisbon, send_reminder "take a coat", research_topic "harbour fog", render_video "fog over a harbour" 2 seconds, consult_expert "Is it safe to sail?"';

describe('the dashboard in Chromium', function () {
  this.timeout(240_000);
  let app: DashboardBrowser;
  let context: BrowserContext;
  let page: Page;
  before(async function () {
    const started = await DashboardBrowser.start();
    if (started === undefined) this.skip();
    app = started;
  });
  after(() => (app as DashboardBrowser | undefined)?.close());
  afterEach(async () => {
    await context.close();
    expect(app.complaints.splice(0).filter((text) => !text.startsWith('Failed to load resource'))).to.deep.equal([]);
  });

  const open = async (path = '/'): Promise<void> => void ({ context, page } = await app.signedIn(path));
  const call = (name: string, state?: string, on = page) =>
    on.locator(`.call[data-name="${name}"]${state === undefined ? '' : `[data-state="${state}"]`}`);
  const row = (id: string, state?: string, on = page) =>
    on.locator(`.run-row[data-run="${id}"]${state === undefined ? '' : `[data-state="${state}"]`}`);
  /** Waits until so many rows are shown. */
  const rows = (amount: number) =>
    page.waitForFunction((wanted) => document.querySelectorAll('.run-row').length === wanted, amount);
  const executionId = async (): Promise<string> =>
    (await page.locator('[data-run]').first().getAttribute('data-run')) ?? '';
  /** Everything that is set here is gone after a reload. */
  const markPage = () => page.evaluate('window.isTheSamePage = true');
  const isSamePage = () => page.evaluate('window.isTheSamePage === true');

  it('asks for the token, refuses a wrong one, takes the right one, and forgets it', async () => {
    ({ context, page } = await app.person());
    await page.goto(app.server.url);
    await page.getByLabel('API token').fill('wrong');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').filter({ hasText: 'not a token of this server' }).waitFor();
    expect(await page.locator('aside').textContent(), 'the notice').to.include('SIMULATED');
    await page.getByLabel('API token').fill(TOKEN);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(await page.evaluate('document.cookie'), 'no script reads the cookie').to.equal('');
    await page.reload();
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.reload();
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
  });

  it('takes the token from the address, and leaves nothing of it there', async () => {
    await open();
    expect(page.url()).to.equal(`${app.server.url}/#/`);
    await page.goBack();
    expect(page.url()).not.to.include('token');
  });

  it('takes it also where the page is open already', async () => {
    ({ context, page } = await app.person());
    await page.goto(app.server.url);
    await page.getByRole('heading', { name: 'Sign in' }).waitFor();
    await page.goto(`${app.server.url}/#token=${TOKEN}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    expect(page.url()).to.equal(`${app.server.url}/#/`);
  });

  it('says on every page that answers are simulated, and what there is when there is nothing', async () => {
    await open();
    for (const [path, text] of [
      ['/', 'Nothing has run yet'],
      ['/runs', 'No runs yet'],
      ['/playground', 'Nothing asked yet'],
      ['/tools', 'Not called yet'],
      ['/providers', 'Ready'],
      ['/runs/unknown', 'There is no such run'],
      ['/nowhere', 'There is no such page'],
    ] as const) {
      await app.go(page, path);
      await page.getByText(text).first().waitFor();
      expect(await page.locator('aside').textContent(), path).to.include('SIMULATED');
    }
  });

  it('runs two blocking and three non-blocking tools, and shows every change as it comes', async () => {
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
    await page.getByRole('link', { name: 'Open the run' }).click();
    await page.locator('.run-page').waitFor();
    await page.getByRole('button', { name: 'Approve', exact: true }).waitFor();
    await call('research_topic', 'completed').waitFor();
    await call('render_video', 'completed').waitFor();
    const before = app.told(id).length;
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await call('send_reminder', 'completed').waitFor();
    await page.locator('.run-page[data-state="waiting"]').waitFor();
    await page.getByLabel('Result, as the model is told').fill('Stay in the harbour.');
    await page.getByRole('button', { name: 'Submit' }).click();
    await call('consult_expert', 'completed').waitFor();
    await page.locator('.run-page[data-state="completed"]').waitFor();
    await page.getByText('Stay in the harbour.').first().waitFor();
    const log = await page
      .locator('[data-event]')
      .evaluateAll((entries) =>
        entries.map((entry) => [
          entry.getAttribute('data-event'),
          entry.querySelector('.event-what')?.textContent.split(' · ')[0] ?? '',
        ]),
      );
    const shown = log.map(([type, what = '']) =>
      type?.startsWith('tool:') === true || type === 'result:arrived' ? `${type} ${what}` : type,
    );
    const told = app.told(id).slice(before);
    expect(shown.slice(-told.length), 'every event since the approval').to.deep.equal(told);
    for (const type of [
      'tool:executing send_reminder',
      'tool:completed send_reminder',
      'result:arrived consult_expert',
      'nonblocking:llm_response',
      'run:completed',
    ])
      expect(told).to.include(type);
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

  it('tells the model why a call was rejected', async () => {
    await open('/playground');
    await page.getByRole('button', { name: 'With approval' }).click();
    await page.getByLabel('Prompt').focus();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('button', { name: 'Reject…' }).click();
    await page.getByLabel('Why not?').fill('They have no plants.');
    await page.getByRole('button', { name: 'Reject', exact: true }).click();
    await call('send_reminder', 'failed').waitFor();
    await page.locator('.playground-out [data-run][data-state="completed"]').waitFor();
    await page.locator('.said-assistant').filter({ hasText: 'They have no plants.' }).first().waitFor();
  });

  it('shows the same to two browsers, goes on after a reload, and cancels', async () => {
    await open('/runs');
    const other = await app.signedIn('/runs');
    const id = await app.run('render_video "a long night" 60 seconds', ['render_video']);
    await row(id).waitFor();
    await row(id, undefined, other.page).waitFor();
    await app.seen(id, 'tool:executing', 'render_video');
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

  it('knows after a reload what waits for somebody, and approves by what it shows', async () => {
    const id = await app.run('send_reminder "buy bread"', ['send_reminder']);
    await app.seen(id, 'tool:approval_required');
    await open('/runs');
    await row(id).getByText('1 call to approve').waitFor();
    await page.getByRole('button', { name: /^Need you/ }).click();
    await row(id).waitFor();
    expect(await page.locator('.run-row').count()).to.equal(await page.locator('.run-row .asks').count());
    await row(id).locator('a').click();
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.locator('.run-page[data-state="completed"]').waitFor();
    await call('send_reminder').locator('summary').click();
    expect(await call('send_reminder').textContent()).to.include('"noted": "buy bread"');
  });

  it('writes the text while the model does', async () => {
    await open('/playground');
    await page.locator('select').selectOption('anthropic');
    await page.evaluate(() => {
      const lengths: number[] = [];
      Object.assign(window, { lengths });
      new MutationObserver(() => {
        const text = document.querySelector('[data-live-text]')?.textContent;
        if (text !== undefined) lengths.push(text.length);
      }).observe(document.body, { subtree: true, childList: true, characterData: true });
    });
    // By the time the tool is done, the page has been watching for long; the text takes longer than a slow page rests.
    await page.getByRole('checkbox', { name: 'research_topic' }).check();
    await page.getByLabel('Prompt').fill(`research_topic "${'meteors that are seen by many people '.repeat(14)}"`);
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await page.locator('.playground-out [data-run][data-state="completed"]').waitFor();
    const lengths = await page.evaluate('window.lengths');
    expect(new Set(lengths as number[]).size, 'it grew step by step').to.be.above(1);
    expect(await page.locator('.said-assistant.is-live').count(), 'and is whole at the end').to.equal(0);
    expect(
      await page.locator('.said-assistant').filter({ hasText: 'The result of research_topic has arrived' }).count(),
      'once',
    ).to.equal(1);
  });

  it('filters by state, provider and words, and keeps the filter in the address', async () => {
    const failing = await app.run('fail please', [], 'groq');
    await app.seen(failing, 'run:completed');
    await open('/runs');
    await row(failing, 'completed').waitFor();
    const all = await page.locator('.run-row').count();
    await page.locator('select').selectOption('groq');
    await rows(1);
    await page.reload();
    await row(failing).waitFor();
    await rows(1);
    await page.locator('select').selectOption('');
    await rows(all);
    await page.getByRole('button', { name: /^Cancelled/ }).click();
    await rows(1);
    expect(await page.locator('.run-row').getAttribute('data-state')).to.equal('cancelled');
    await page.getByRole('button', { name: /^All/ }).click();
    await page.getByRole('searchbox').fill('bread buy');
    await rows(1);
    await page.getByRole('searchbox').fill('no such words anywhere');
    await page.getByText('No run fits these filters').waitFor();
  });

  it('counts calls of tools as they are made', async () => {
    await open('/tools');
    const card = page.locator('[data-tool="get_time"]');
    await card.getByText('Not called yet').waitFor();
    await app.run('get_time', ['get_time']);
    await card.getByText('1 call', { exact: false }).first().waitFor();
    await card.getByText('Completed').waitFor();
  });

  it('tests a provider', async () => {
    await open('/providers');
    const card = page.locator('[data-provider="google"]');
    await card.getByRole('button', { name: 'Test' }).click();
    await card.getByText('It answers.').waitFor();
  });

  it('goes by keyboard from the top of the page into a run', async () => {
    await open('/runs');
    await page.reload();
    await page.locator('.run-row').first().waitFor();
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).to.equal('Skip to the content');
    await page.keyboard.press('Enter');
    expect(await page.evaluate(() => document.activeElement?.id)).to.equal('content');
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

  it('says when the server is gone, and recovers by itself', async () => {
    await open('/runs');
    await page.locator('.run-row').first().waitFor();
    const rows = await page.locator('.run-row').count();
    await context.setOffline(true);
    await page.getByText('Connection lost').waitFor();
    expect(await page.locator('.run-row').count(), 'what is known stays').to.equal(rows);
    const id = await app.run('while you were away');
    await context.setOffline(false);
    await row(id).waitFor();
    await page.getByText('Live', { exact: true }).first().waitFor();
    app.complaints.splice(0);
  });

  it('shows what is wrong when a page can’t be loaded, and tries again', async () => {
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
    app.complaints.splice(0);
  });
});
