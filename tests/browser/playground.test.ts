/** The playground in Chromium on plain Node: conversations, comparison, prompts, and a layout that does not move. */
import { expect } from 'chai';
import type { BrowserContext, Page } from 'playwright-core';
import { TOKEN } from '../support/DashboardBrowser';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

describe('the playground in Chromium', () => {
  let app: DashboardBrowser;
  let context: BrowserContext;
  let page: Page;
  withDashboard((started) => {
    app = started;
  });
  afterEach(async () => {
    await context.close();
    expect(app.consoleErrors.splice(0)).to.deep.equal([]);
  });

  const open = async (options: Parameters<DashboardBrowser['openSignedIn']>[1] = {}): Promise<void> => {
    ({ context, page } = await app.openSignedIn('/playground', options));
    await page.locator('.composer').waitFor();
  };
  const prompt = () => page.getByLabel('Prompt');
  const send = async (text: string): Promise<void> => {
    await prompt().fill(text);
    await prompt().press('Control+Enter');
  };
  const turns = (state: string) => page.locator(`.turn[data-state="${state}"]`);
  const waitForTurns = async (state: string, count: number): Promise<void> => {
    await turns(state)
      .nth(count - 1)
      .waitFor();
    expect(await turns(state).count()).to.equal(count);
  };

  it('holds a conversation with an image, stops, edits, shows code, and saves and loads a prompt', async () => {
    await open();
    await page.getByLabel('Instructions').fill('Answer in one sentence.');
    await page.getByLabel('Images and files').setInputFiles([
      { name: 'pixel.png', mimeType: 'image/png', buffer: Buffer.from(PIXEL, 'base64') },
      { name: 'huge.bin', mimeType: 'application/octet-stream', buffer: Buffer.alloc(5_000_001) },
    ]);
    await page.getByText('“huge.bin” has 5.0 MB').waitFor();
    expect(await page.locator('.composer .attachment img').getAttribute('src')).to.match(/^data:image\/png;base64,/);
    await send('What is in the image?');
    await waitForTurns('completed', 1);
    await page.locator('.turn-message .attachment img').waitFor();
    await page.getByText('Cost').first().waitFor();

    await send('And what is next to it?');
    await waitForTurns('completed', 2);
    const [first, second] = await page.locator('.turn').evaluateAll((all) => all.map((turn) => turn.dataset['run']));
    const followUp = await app.server.host.module.runs.load(second ?? '');
    expect(JSON.stringify(followUp?.run.input), 'the image is part of the conversation').to.include(PIXEL);

    // Stops while a tool works.
    await page.getByRole('checkbox', { name: 'render_video' }).check();
    await send('render_video "a long night" 60 seconds');
    await page.locator('[data-call][data-name="render_video"]').waitFor();
    await page.getByRole('button', { name: 'Stop' }).click();
    await waitForTurns('cancelled', 1);

    // The first message is sent again, changed, and what came after it is dropped.
    await page.getByRole('button', { name: 'Edit' }).first().click();
    await page.getByRole('textbox', { name: 'Message' }).fill('Describe the image.');
    await page.getByRole('button', { name: 'Send again' }).click();
    await page.locator('.turn').nth(1).waitFor({ state: 'detached' });
    await waitForTurns('completed', 1);
    const edited = (await page.locator('.turn').first().getAttribute('data-run')) ?? '';
    expect(edited).to.not.equal(first);
    const input = JSON.stringify((await app.server.host.module.runs.load(edited))?.run.input);
    expect(input).to.include(PIXEL).and.to.include('Describe the image.').and.to.not.include('next to it');

    await page.getByRole('button', { name: 'View as code' }).click();
    const code = page.getByRole('dialog').locator('pre');
    expect(await code.textContent())
      .to.include(`model: "openai/gpt-5.4-mini"`)
      .and.to.include('image.png');
    await page.getByRole('button', { name: 'curl' }).click();
    expect(await code.textContent()).to.include(app.server.url);
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });

    await prompt().fill('Tell me about $topic.');
    for (const version of [1, 2]) {
      await page.getByRole('button', { name: 'Prompts' }).click();
      await page.getByLabel('Save as').fill('About a topic');
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText(`Saved as version ${version} of`).waitFor();
      await page.keyboard.press('Escape');
      await page.getByLabel('Instructions').fill('Answer at length.');
    }
    await prompt().fill('');
    await page.getByRole('button', { name: 'Prompts' }).click();
    const labels = page.getByRole('list', { name: 'Labels of About a topic' });
    await page.getByRole('button', { name: 'Label version 2' }).click();
    await labels.getByText('production: version 2').waitFor();
    await page.getByLabel('Version of About a topic').selectOption('1');
    await page.getByRole('button', { name: 'Label version 1' }).click();
    await labels.getByText('production: version 1').waitFor();
    await page.getByRole('button', { name: 'Remove the label production' }).click();
    await labels.getByRole('listitem').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Load About a topic' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect(await prompt().inputValue()).to.equal('Tell me about $topic.');
    expect(await page.getByLabel('Instructions').inputValue()).to.equal('Answer in one sentence.');

    // The draft and the conversation survive a reload.
    await page.reload();
    await waitForTurns('completed', 1);
    expect(await prompt().inputValue()).to.equal('Tell me about $topic.');
    await page.getByRole('button', { name: 'Prompts' }).click();
    await page.getByRole('button', { name: 'Delete About a topic' }).click();
    await page.getByRole('button', { name: 'Delete every version' }).click();
    await page.getByText('None yet.').waitFor();
  });

  it('compares three models with follow-ups to all, and stops one of them', async () => {
    await open();
    for (const count of [2, 3]) {
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.locator(`.lanes[data-count="${count}"]`).waitFor();
    }
    await page.getByRole('combobox', { name: 'Model 2' }).selectOption('anthropic/claude-haiku-4-5');
    await page.getByRole('combobox', { name: 'Model 3' }).selectOption('google/gemini-3.5-flash');
    await send('Tell me about meteors.');
    await waitForTurns('completed', 3);
    for (const fact of ['Cost', 'Tokens', 'First token', 'Time'])
      expect(await page.locator('.answer-facts dt', { hasText: fact }).count(), fact).to.equal(3);
    const tokens = await page.locator('.answer-facts div:has(> dt:text-is("Tokens")) dd').allTextContents();
    for (const text of tokens) expect(text).to.match(/^\d+ \+ \d+$/);
    const runs = await page.locator('.turn').evaluateAll((all) => all.map((turn) => turn.dataset['run'] ?? ''));
    const stored = await Promise.all(runs.map((id) => app.server.host.module.runs.load(id)));
    expect(stored.map((each) => [each?.run.providerId, each?.run.model])).to.deep.equal([
      ['openai', undefined],
      ['anthropic', 'claude-haiku-4-5'],
      ['google', 'gemini-3.5-flash'],
    ]);
    expect(new Set(stored.map((each) => each?.run.conversationId)).size).to.equal(3);

    await page.getByText('Settings').first().click();
    await page.getByRole('checkbox', { name: 'render_video' }).check();
    await send('render_video "a long night" 60 seconds');
    await page.locator('[data-lane="2"] [data-call]').waitFor();
    await page.getByRole('button', { name: 'Stop model 2' }).click();
    await page.locator('[data-lane="2"] .turn[data-state="cancelled"]').waitFor();
    expect(await page.locator('.turn[data-state="cancelled"]').count(), 'the others go on').to.equal(1);
    await page.getByRole('button', { name: 'Stop', exact: true }).click();
    await waitForTurns('cancelled', 3);
    await page.getByRole('button', { name: 'New conversation' }).click();
    await page.locator('.turn').first().waitFor({ state: 'detached' });
  });

  it('approves a call in the answer, and opens a run with its settings', async () => {
    await open();
    await page.getByRole('button', { name: 'Tool that needs approval' }).click();
    await prompt().press('Control+Enter');
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await waitForTurns('completed', 1);
    const id = await app.startRun('What is the weather in Oslo?', ['get_weather'], 'anthropic');
    await app.waitForEvent(id, 'run:completed');
    await app.go(page, `/playground?run=${id}`);
    await page.locator(`.turn[data-run="${id}"][data-state="completed"]`).waitFor();
    expect(page.url()).to.not.include(id);
    expect(await page.getByRole('checkbox', { name: 'get_weather' }).isChecked()).to.equal(true);
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).to.match(/^anthropic\//);
    await send('And in Rome?');
    await waitForTurns('completed', 2);
  });

  it('shows the stored time to first token, and why a cost is unknown', async () => {
    const { executionId } = (await app.post('/runs', {
      requestId: 'unknown-price',
      providerId: 'openai',
      model: 'a-model-without-a-price',
      input: 'Hello',
    })) as { readonly executionId: string };
    await app.waitForEvent(executionId, 'run:completed');
    await open();
    await app.go(page, `/playground?run=${executionId}`);
    const fact = (name: string) => page.locator(`.answer-facts div:has(> dt:text-is("${name}")) dd`);
    await fact('Cost').getByText('unknown').waitFor();
    await page.getByText('Cost unknown: ').getByText('a-model-without-a-price').waitFor();
    await fact('First token')
      .getByText(/^\d+ ms$/)
      .waitFor();
  });

  it('forgets the draft when the user signs out', async () => {
    await open();
    await page.getByLabel('Instructions').fill('Keep this to yourself.');
    await prompt().fill('A secret question');
    await page.reload();
    await page.locator('.composer').waitFor();
    expect(await prompt().inputValue()).to.equal('A secret question');
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('API token').fill(TOKEN);
    expect(await page.evaluate('JSON.stringify(sessionStorage)')).to.not.include('secret');
    await page.keyboard.press('Enter');
    await page.locator('.composer').waitFor();
    expect(await prompt().inputValue()).to.equal('');
    expect(await page.getByLabel('Instructions').inputValue()).to.equal('');
  });

  it('offers to share a prompt to admins only', async () => {
    await open();
    await page.getByRole('button', { name: 'Prompts' }).click();
    await page.getByLabel('Everyone can load it').waitFor();
    await context.close();
    ({ context, page } = await app.newVisitor());
    await page.route('**/me', (route) => route.fulfill({ json: { userId: 'bob', isAdmin: false } }));
    // The first page may ask already.
    const asked = page.waitForResponse(/\/me$/);
    await page.goto(`${app.server.url}/#token=${TOKEN}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await app.go(page, '/playground');
    await page.getByRole('button', { name: 'Prompts' }).click();
    await (await asked).finished();
    await page.getByRole('button', { name: 'Save', exact: true }).waitFor();
    expect(await page.getByLabel('Everyone can load it').count()).to.equal(0);
  });

  it('checks the schema as it is typed', async () => {
    await open();
    await prompt().fill('Hello');
    const schema = page.getByLabel('Answer as JSON (schema)');
    await schema.fill('{"type": "objekt"}');
    await page.getByText('“$.type” must be one of').waitFor();
    expect(await page.getByRole('button', { name: 'Run', exact: true }).isDisabled()).to.equal(true);
    await schema.fill('{"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}');
    await page.getByRole('button', { name: 'Run', exact: true }).click();
    await waitForTurns('completed', 1);
    await page.locator('.turn-answer').getByText('city').first().waitFor();
  });

  for (const width of [1440, 390])
    it(`moves nothing while answers stream (${width} px)`, async () => {
      await open({ viewport: { width, height: 900 } });
      await page.getByRole('button', { name: 'Compare' }).click();
      await page.evaluate(() => {
        const shifts: string[] = [];
        Object.assign(window, { shifts });
        new PerformanceObserver((list) => {
          for (const entry of list.getEntries() as (PerformanceEntry & {
            readonly value: number;
            readonly hadRecentInput: boolean;
            readonly sources: readonly { readonly node: Element | null }[];
          })[])
            if (!entry.hadRecentInput)
              shifts.push(`${entry.value} ${entry.sources.map(({ node }) => node?.className ?? '').join(', ')}`);
        }).observe({ type: 'layout-shift' });
      });
      for (const count of [2, 4]) {
        await send(`Tell me ${'more and more about meteors that are seen by many people '.repeat(20)}`);
        await waitForTurns('completed', count);
      }
      // The reader is at the end, and stays there once the last change is painted.
      await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
      const rest = await page
        .locator('.lane-scroller')
        .evaluateAll((all) => all.map((each) => each.scrollHeight - each.scrollTop - each.clientHeight));
      expect(Math.max(...rest)).to.be.below(2);
      const shifts = await page.evaluate<readonly string[]>('window.shifts');
      const score = shifts.reduce((sum, shift) => sum + Number(shift.split(' ')[0]), 0);
      expect(score, shifts.join('\n')).to.be.below(0.01);
    });
});
