/** A page with AG-UI's own client in Chromium, on the dashboard's session, against the server of `npm start`. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { deferred } from '../support/deferred';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { bundlePage, openPage } from '../support/appPage';
import { until } from '../support/until';
import { withDashboard } from '../support/withDashboard';

const words = (count: number): string => `Repeat: ${Array.from({ length: count }, (_, at) => `word${at}`).join(' ')}`;

describe('AG-UI’s client in a browser', () => {
  let app: DashboardBrowser;
  let script = '';
  let page: Page;
  withDashboard(async (started) => {
    app = started;
    script = await bundlePage('agUiPage.ts');
  });
  beforeEach(() => void app.events.splice(0));
  afterEach(async () => {
    expect(await page.locator('#error').textContent()).to.equal('');
    expect(app.consoleErrors.splice(0)).to.deep.equal([]);
  });

  const open = async (thread: string): Promise<void> => {
    page = await openPage(app, script, `thread=${thread}`);
  };
  const send = async (text: string, button = 'send'): Promise<void> => {
    await page.fill('input[name=text]', text);
    await page.click(`#${button}`);
  };
  const idle = async (): Promise<void> => {
    await page.waitForSelector('#status:text("ready")');
  };
  const isWriting = async (): Promise<void> => {
    await page.waitForSelector('article.assistant');
  };
  const texts = (): Promise<string[]> => page.locator('article:not(.tool)').allTextContents();
  const eventsOf = (type: string): number => app.events.filter((event) => event.type === type).length;
  /** The model's answers, in their order. */
  const answers = (): readonly string[] =>
    app.events.flatMap((event) => (event.type === 'llm:response' ? [event.response.output_text] : []));

  it('streams an answer with a call, and that of the next message', async () => {
    await open('streamed');
    await send('What is the weather in Lisbon?');
    await page.waitForSelector('article.tool');
    await page.waitForSelector('article:has-text("get_weather returned")');
    await idle();
    await send('Thank you.');
    await page.waitForSelector('article:has-text("Thank you.") + article.assistant');
    await idle();
    expect(eventsOf('run:started')).to.equal(2);
  });

  it('asks for an approval, and again after a reload, and continues the same run when it is given', async () => {
    await open('approval');
    await send('Send a reminder with the text "tea"');
    await page.waitForSelector('#approve');
    await page.reload();
    await page.click('#approve');
    await page.waitForSelector('article:has-text("send_reminder returned")');
    await idle();
    expect(eventsOf('run:started')).to.equal(1);
    expect(await page.locator('article.tool').count()).to.equal(1);
  });

  it('queues messages that are sent while the run works, which answers them in their order', async () => {
    await open('queued');
    await send(words(60));
    await isWriting();
    await send('And then this?');
    await send('And last that?');
    await until(() => eventsOf('run:completed') === 1);
    await idle();
    const [first = '', second = '', third = ''] = answers();
    expect(await texts()).to.deep.equal([words(60), first, 'And then this?', second, 'And last that?', third]);
    expect(eventsOf('run:started')).to.equal(1);
  });

  it('interrupts the run, which answers at once', async () => {
    await open('interrupted');
    await send(words(200));
    await isWriting();
    await send('Hello instead', 'interrupt');
    await until(() => eventsOf('run:completed') === 1);
    await idle();
    const [, cut = '', ...rest] = await texts();
    expect(cut)
      .to.match(/^This is/)
      .and.not.match(/word199/);
    expect(rest).to.deep.equal(['Hello instead', ...answers()]);
    expect(eventsOf('llm:interrupted')).to.equal(1);
    expect(eventsOf('run:started')).to.equal(1);
  });

  it('goes on after a reload in the middle of an answer, with nothing doubled or lost', async () => {
    await open('reloaded');
    await send(words(60));
    await isWriting();
    expect(await page.locator('#status').textContent()).to.equal('running');
    await page.reload();
    await until(() => eventsOf('run:completed') === 1);
    await idle();
    expect(await texts()).to.deep.equal([words(60), ...answers()]);
    await page.reload();
    expect(await texts()).to.deep.equal([words(60), ...answers()]);
    expect(eventsOf('run:started')).to.equal(1);
  });

  it('goes on after reloads while a tool works and a message waits', async () => {
    const { tools, loop } = app.server.host.module;
    const { promise, resolve } = deferred();
    tools.register({
      name: 'walk_dog',
      idempotent: true,
      parameters: { type: 'object' },
      execute: () => promise.then(() => 'walked'),
    });
    await open('waiting');
    await send('Use walk_dog with "x".');
    await until(() => eventsOf('tool:executing') === 1);
    await page.reload();
    await page.waitForSelector('#status:text("running")');
    await send('And then?');
    const { executionId = '' } = app.events[0] ?? {};
    await until(async () => (await loop.queuedMessages(executionId)).length === 1);
    await page.reload();
    await page.waitForSelector('#status:text("running")');
    resolve();
    await until(() => eventsOf('run:completed') === 1);
    await idle();
    const [, first = '', second = ''] = answers();
    expect(await texts()).to.deep.equal(['Use walk_dog with "x".', first, 'And then?', second]);
    expect(await page.locator('article.tool').count()).to.equal(1);
    expect(eventsOf('run:started')).to.equal(1);
  });
});
