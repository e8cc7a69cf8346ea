/** A page with the AI SDK's `useChat` in Chromium, on the dashboard's session, against the server of `npm start`. */
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { deferred } from '../support/deferred';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import { runAsTool } from '../../imports/business/ai/infrastructure/tools/runAsTool';
import { bundlePage, openPage } from '../support/appPage';
import { withDashboard } from '../support/withDashboard';
import { until } from '../support/until';

describe('useChat in a browser', () => {
  let app: DashboardBrowser;
  let script = '';
  withDashboard(async (started) => {
    app = started;
    script = await bundlePage('useChatPage.tsx');
  });
  afterEach(() => expect(app.consoleErrors.splice(0)).to.deep.equal([]));

  let page: Page;
  async function open(chat: string, query = ''): Promise<void> {
    page = await openPage(app, script, `chat=${chat}${query}`);
  }

  async function send(text: string): Promise<void> {
    await page.fill('input[name=text]', text);
    await page.click('button[type=submit]');
  }

  const idle = async (): Promise<void> => {
    await page.waitForSelector('#status:text("ready")');
  };
  const tool = (name: string, state: string): string => `[data-tool="tool-${name}"][data-state="${state}"]`;
  const textOfLast = async (): Promise<string> =>
    (await page.locator('article[data-role=assistant]').last().locator('p').allTextContents()).join('');
  /** The last message is the whole answer of the run that completed last. */
  const showsAnswer = async (): Promise<boolean> => {
    const last = app.events.findLast((event) => event.type === 'run:completed');
    return (await textOfLast()) === (last?.type === 'run:completed' ? last.response.output_text : undefined);
  };
  const eventsOf = (type: string): number => app.events.filter((event) => event.type === type).length;

  it('streams an answer with a blocking call', async () => {
    await open('blocking');
    await send('What is the weather in Lisbon?');
    await page.waitForSelector(tool('get_weather', 'output-available'));
    await page.waitForSelector('p:has-text("get_weather returned")');
    await idle();
    expect(await page.locator('#error').textContent()).to.equal('');
  });

  it('shows a non-blocking call while the model goes on, and its result when it arrives', async () => {
    await open('background');
    await send('Research the topic "cats" in the background');
    await page.waitForSelector(tool('research_topic', 'input-available'));
    await page.waitForSelector('p:has-text("still running")');
    await page.waitForSelector(tool('research_topic', 'output-available'));
    await page.waitForSelector('p:has-text("has arrived")');
    await idle();
    expect(await page.locator('[data-tool="tool-research_topic"]').count()).to.equal(1);
  });

  it('asks for an approval, and continues the same run when it is given', async () => {
    await open('approval');
    const started = eventsOf('run:started');
    await send('Send a reminder with the text "tea"');
    await page.click('button.approve');
    await page.waitForSelector(tool('send_reminder', 'output-available'));
    await page.waitForSelector('p:has-text("send_reminder returned")');
    await idle();
    expect(eventsOf('run:started')).to.equal(started + 1);
    expect(await page.locator('article').count()).to.equal(2);
  });

  it('asks for it again after a reload', async () => {
    await open('approval-reloaded');
    await send('Send a reminder with the text "tea"');
    await page.waitForSelector('button.approve');
    await page.reload();
    await page.waitForSelector('button.approve');
    await idle();
    await page.click('button.approve');
    await page.waitForSelector('p:has-text("send_reminder returned")');
    expect(await page.locator('.tool').count()).to.equal(1);
  });

  const transports = [
    ['Bolide’s', ''],
    ['the AI SDK’s', '&plain'],
  ] as const;
  for (const [name, query] of transports)
    it(`goes on after a reload in mid-answer, with nothing doubled or lost, with ${name} transport`, async () => {
      await open(`reloaded${query.slice(1)}`, query);
      const started = eventsOf('run:started');
      const completed = eventsOf('run:completed');
      const long = `Repeat: ${Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ')}`;
      await send(long);
      await page.waitForSelector('article[data-role=assistant] p');
      expect(await page.locator('#status').textContent()).to.equal('streaming');
      await page.reload();
      await page.waitForSelector('article[data-role=assistant] p');
      await until(() => eventsOf('run:completed') === completed + 1);
      await idle();
      expect(await showsAnswer()).to.equal(true);
      expect(eventsOf('run:started')).to.equal(started + 1);
      expect(await page.locator('article').count()).to.equal(2);
      await page.reload();
      await until(showsAnswer);
    });

  for (const [name, query] of transports)
    it(`shows an answer that ends while the page is being reloaded, with ${name} transport`, async () => {
      await open(`ended${query.slice(1)}`, query);
      const completed = eventsOf('run:completed');
      await send(`Repeat: ${Array.from({ length: 60 }, (_, index) => `word${index}`).join(' ')}`);
      await page.waitForSelector('article[data-role=assistant] p');
      await page.route('**/chat/*/stream', async (route) => {
        await until(() => eventsOf('run:completed') === completed + 1);
        await route.continue();
      });
      await page.reload();
      await until(showsAnswer);
      await idle();
      expect(await page.locator('article').count()).to.equal(2);
      await page.unrouteAll({ behavior: 'wait' });
    });

  for (const [name, query] of transports)
    it(`queues messages that are sent while the run works, also when reloaded, with ${name} transport`, async () => {
      const { promise, resolve } = deferred();
      app.server.host.module.tools.register({
        name: `walk_dog${query.slice(1)}`,
        idempotent: true,
        parameters: { type: 'object' },
        execute: () => promise.then(() => 'walked'),
      });
      await open(`queued${query.slice(1)}`, query);
      const [started, completed, executing] = ['run:started', 'run:completed', 'tool:executing'].map(eventsOf);
      const responses = eventsOf('llm:response');
      const first = `Use walk_dog${query.slice(1)} with "x".`;
      await send(first);
      await until(() => eventsOf('tool:executing') === Number(executing) + 1);
      const { executionId = '' } = app.events.findLast((event) => event.type === 'run:started') ?? {};
      const areQueued = (count: number): Promise<void> =>
        until(async () => (await app.server.host.module.loop.queuedMessages(executionId)).length === count);
      await send('And then this?');
      await areQueued(1);
      await page.reload();
      await page.waitForSelector('#status:text("streaming")');
      await send('And last that?');
      await areQueued(2);
      resolve();
      await until(() => eventsOf('run:completed') === Number(completed) + 1);
      await idle();
      const answers = app.events
        .flatMap((event) => (event.type === 'llm:response' ? [event.response.output_text] : []))
        .slice(responses + 1);
      const shown = [first, answers[0], 'And then this?', answers[1], 'And last that?', answers[2]];
      const texts = (): Promise<string[]> => page.locator('p').allTextContents();
      // What waited when the page was reloaded is a steering part of the answer, which the page does not show.
      expect(await texts()).to.deep.equal(shown.filter((text) => text !== 'And then this?'));
      await page.reload();
      await until(showsAnswer);
      expect(await texts()).to.deep.equal(shown);
      expect(eventsOf('run:started')).to.equal(Number(started) + 1);
      expect(await page.locator('#error').textContent()).to.equal('');
    });

  it('cancels the run on the server when it is stopped', async () => {
    await open('stopped');
    const cancelled = eventsOf('run:cancelled');
    await send('Render a video of the scene "sea" for 30 seconds');
    await page.waitForSelector(tool('render_video', 'input-available'));
    await page.click('#stop');
    await until(() => eventsOf('run:cancelled') === cancelled + 1);
    await idle();
    expect(await page.locator('#error').textContent()).to.equal('');
  });

  it('cancels a run that was resumed', async () => {
    await open('resumed-stopped');
    const cancelled = eventsOf('run:cancelled');
    await send('Render a video of the scene "sea" for 30 seconds');
    await page.waitForSelector(tool('render_video', 'input-available'));
    await page.reload();
    await page.waitForSelector('#status:text("streaming")');
    await page.waitForSelector(tool('render_video', 'input-available'));
    expect(eventsOf('run:cancelled')).to.equal(cancelled);
    await page.click('#stop');
    await until(() => eventsOf('run:cancelled') === cancelled + 1);
  });

  it('interrupts the run with a message after it was stopped, with the AI SDK’s transport', async () => {
    await open('interrupted', '&plain');
    const [started, completed, interrupted] = ['run:started', 'run:completed', 'llm:interrupted'].map(eventsOf);
    await send(`Repeat: ${Array.from({ length: 200 }, (_, index) => `word${index}`).join(' ')}`);
    await page.waitForSelector('article[data-role=assistant] p');
    await page.click('#stop');
    await idle();
    await send('Hello instead');
    await until(() => eventsOf('run:completed') === Number(completed) + 1);
    await until(showsAnswer);
    await idle();
    expect(eventsOf('llm:interrupted')).to.equal(Number(interrupted) + 1);
    expect(eventsOf('run:started')).to.equal(Number(started) + 1);
    const shown = (): Promise<string[]> => page.locator('article').allInnerTexts();
    const texts = await shown();
    expect(texts).to.have.length(4);
    expect(texts[1])
      .to.match(/^This is/)
      .and.not.match(/needed for that/);
    expect(await page.locator('#error').textContent()).to.equal('');
    await page.reload();
    await until(showsAnswer);
    expect((await shown()).slice(2)).to.deep.equal(texts.slice(2));
  });

  it('shows runs below within their calls, and asks about their calls, also after a reload', async () => {
    const { tools } = app.server.host.module;
    const delegate = (name: string, input: string, below: string): void =>
      void tools.register(runAsTool({ name, description: 'Delegates.', run: () => ({ input, tools: [below] }) }));
    delegate('ask_outer', 'Use ask_inner with "x".', 'ask_inner');
    delegate('ask_inner', 'Send a reminder with the text "tea"', 'send_reminder');
    await open('below');
    await send('Use ask_outer with "x".');
    await page.waitForSelector('button.approve');
    await page.waitForSelector('[data-tool="tool-ask_outer"]:has-text("tool-send_reminder")');
    await page.reload();
    await page.waitForSelector('button.approve');
    await idle();
    await page.click('button.approve');
    await page.waitForSelector(tool('send_reminder', 'output-available'));
    await page.waitForSelector('p:has-text("ask_outer returned")');
    await idle();
    expect(await page.locator('.tool').count()).to.equal(2);
    expect(await page.locator('article').count()).to.equal(2);
    expect(await page.locator('#error').textContent()).to.equal('');
  });

  it('supplies what runs below wait for from outside, and what their tools ask, also after a reload', async () => {
    const { tools } = app.server.host.module;
    tools.register({ name: 'ask_page', kind: 'external', parameters: { type: 'object' } });
    tools.register({
      name: 'book_table',
      parameters: { type: 'object' },
      idempotent: true,
      execute: (_args: unknown, { requestInput }: ToolCallContext) =>
        requestInput?.({ message: 'How many?', schema: { type: 'object', required: ['guests'] } }),
    });
    for (const [chat, below, part] of [
      ['supplied', 'ask_page', 'ask_page'],
      ['asked', 'book_table', 'request_input'],
    ] as const) {
      const input = `Use ${below} with "x".`;
      tools.register(
        runAsTool({ name: `to_${below}`, description: 'Delegates.', run: () => ({ input, tools: [below] }) }),
      );
      await open(chat);
      await send(`Use to_${below} with "x".`);
      await page.waitForSelector(tool(part, 'input-available'));
      await idle();
      await page.reload();
      await page.waitForSelector(tool(part, 'input-available'));
      await idle();
      await page.click(`${tool(part, 'input-available')} button.supply`);
      await page.waitForSelector(`p:has-text("to_${below} returned")`);
      await idle();
      expect(await page.locator('.tool').count()).to.equal(2);
      expect(await page.locator('#error').textContent()).to.equal('');
    }
  });
});
