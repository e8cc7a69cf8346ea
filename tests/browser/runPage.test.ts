/** The page of a run in a real browser: waiting, starting again, forking, comparing, and hostile content. */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { AxeResults } from 'axe-core';
import type { BrowserContext, Page } from 'playwright-core';
import type { ToolCall } from '../../imports/business/ai/domain/entities/Tool';
import type { ToolCallContext } from '../../imports/business/ai/domain/interfaces/IToolExecutor';
import { runAsTool } from '../../imports/business/ai/infrastructure/tools/runAsTool';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';
import type { RequestView } from '../../imports/business/ai/domain/types/RequestRecords';
import { runRequest } from '../support/runRequests';
import { RUN } from '../unit/ui/records';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const BIDI = '\u202Eevil\u2066 \u05E9\u05DC\u05D5\u05DD';
const MARKUP = '<img src=x onerror="window.hacked=1"><script>window.hacked=1</script><style>body{display:none}</style>';
const HOSTILE = `${MARKUP} ${BIDI} \uD800 ${'\u0301'.repeat(200)} ${'W'.repeat(3_000)} [x](javascript:window.hacked=1)`;

const OWN_RUN = { userId: 'local' };
const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;

describe('a run’s page in Chromium', () => {
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

  const open = async (path: string, options = {}): Promise<void> =>
    void ({ context, page } = await app.openSignedIn(path, options));
  const overflow = (): Promise<number> =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  const currentRun = (): string => /\/runs\/([^/?]+)/.exec(page.url())?.[1] ?? '';

  async function finishedRun(prompt: string, tools: readonly string[]): Promise<string> {
    const id = await app.startRun(prompt, tools);
    await app.waitForEvent(id, 'run:completed');
    return id;
  }

  /** Starts what the open form describes. @returns the id of the new run */
  async function startFromForm(): Promise<string> {
    const before = currentRun();
    await page.getByRole('button', { name: 'Start run' }).click();
    await page.waitForFunction((old) => !window.location.pathname.includes(old), before);
    await page.locator('.run-page[data-state="completed"]').waitFor();
    return currentRun();
  }

  it('shows the runs of calls within their cards, live, and at any depth', async () => {
    const { tools } = app.server.host.module;
    const delegate = (name: string, input: string, below: string): void =>
      void tools.register(runAsTool({ name, description: 'Delegates.', run: () => ({ input, tools: [below] }) }));
    delegate('ask_outer', 'Use ask_inner with "x".', 'ask_inner');
    delegate('ask_inner', 'send_reminder "take a coat"', 'send_reminder');
    const id = await app.startRun('Use ask_outer with "x".', ['ask_outer']);
    await open(`/runs/${id}`);
    const outer = page.locator('.run-side > section details.call[data-name="ask_outer"]');
    await outer.locator('> summary').click();
    const inner = outer.locator('details.call[data-name="ask_inner"]');
    await inner.locator('> summary').click();
    await inner.locator('[data-name="send_reminder"][data-state="awaiting_approval"]').waitFor();
    await inner.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.locator('.run-page[data-state="completed"]').waitFor();
    await inner.locator('.called-run .conversation').getByText('send_reminder returned').waitFor();
    expect(await page.locator('.called-run').count()).to.equal(2);
    expect(await overflow()).to.equal(0);
  });

  it('shows the run of each call, also of one that has started hundreds', async () => {
    const { tools, runs } = app.server.host.module;
    tools.register(
      runAsTool({ name: 'ask_first', description: 'Delegates.', run: () => ({ input: 'Hello', tools: [] }) }),
    );
    const id = await finishedRun('Use ask_first with "x".', ['ask_first']);
    for (let index = 0; index < 200; index += 1) {
      const executionId = `later-${index}`;
      const request = { ...runRequest(executionId, { parentExecutionId: id, parentCallId: executionId }), ...OWN_RUN };
      const lease = await runs.create({ ...request, createdAt: Date.now() }, 'running', 'nobody');
      await runs.end(lease, { state: 'failed', endedAt: Date.now(), error: { code: 'vendor-error', message: '' } });
    }
    await open(`/runs/${id}`, { colorScheme: 'dark', viewport: { width: 360, height: 740 } });
    await page.locator('details.call[data-name="ask_first"] > summary').click();
    await page.locator('.called-run .conversation').waitFor();
    expect(await overflow()).to.equal(0);
  });

  it('takes the results and answers that a run below waits for', async () => {
    const { tools } = app.server.host.module;
    tools.register({ name: 'ask_page', kind: 'external', parameters: { type: 'object' } });
    tools.register({
      name: 'book_table',
      parameters: { type: 'object' },
      idempotent: true,
      execute: (_args: unknown, { requestInput }: ToolCallContext) => requestInput?.({ message: 'Outside?' }),
    });
    for (const [below, action] of [
      ['ask_page', 'Submit result'],
      ['book_table', 'Approve'],
    ] as const) {
      const input = `Use ${below} with "x".`;
      tools.register(
        runAsTool({ name: `to_${below}`, description: 'Delegates.', run: () => ({ input, tools: [below] }) }),
      );
      const id = await app.startRun(`Use to_${below} with "x".`, [`to_${below}`]);
      await open(`/runs/${id}`);
      const outer = page.locator(`.run-side > section details.call[data-name="to_${below}"]`);
      await outer.locator('> summary').click();
      await outer.locator(`[data-name="${below}"][data-state="executing"]`).waitFor();
      if (below === 'book_table') await outer.locator(`[data-name="${below}"] > summary`).click();
      if (below === 'ask_page') await outer.getByRole('textbox').first().fill('"here"');
      await outer.getByRole('button', { name: action, exact: true }).click();
      await page.locator('.run-page[data-state="completed"]').waitFor();
      const answers = outer.locator('[data-answer="accept"]');
      if (below === 'book_table') await answers.getByText('Outside?').waitFor();
    }
    await context.close();
    const runs = await app.server.host.operations['ai.runs.list'](ADMIN, { tool: 'book_table' });
    await open(`/runs/${runs.runs[0]?._id ?? ''}`, { colorScheme: 'dark', viewport: { width: 360, height: 740 } });
    await page.locator('details.call[data-name="book_table"] > summary').click();
    await page.locator('[data-answer="accept"]').getByText('Outside?').waitFor();
    expect(await overflow()).to.equal(0);
  });

  it('shows waiting as waiting after a reload of a finished run', async () => {
    const id = await app.startRun('send_reminder "take a coat"', ['send_reminder']);
    await app.waitForEvent(id, 'tool:approval_required');
    await open(`/runs/${id}`);
    await page.getByText('Waiting for approval').first().waitFor();
    // The wait has to be longer than the pixel that it is drawn with.
    await page.waitForFunction(() => {
      const bar = document.querySelector('[data-segment="approval"]');
      return bar !== null && bar.getBoundingClientRect().width > 40;
    });
    await page.getByRole('button', { name: 'Approve', exact: true }).click();
    await page.locator('.run-page[data-state="completed"]').waitFor();
    await page.reload();
    const waiting = page.locator('[data-segment="approval"]');
    await waiting.waitFor();
    const width = async (selector: string): Promise<number> =>
      (await page.locator(selector).first().boundingBox())?.width ?? 0;
    expect(await width('[data-wait="approval"]'), 'the run waited').to.be.above(40);
    expect(await width('[data-segment="executing"]'), 'executing is short').to.be.below(
      await width('[data-segment="approval"]'),
    );
    await page.locator('.timeline-totals [data-part="waiting"]').waitFor();
  });

  for (const options of [{}, { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const])
    it(`sends messages to a run that waits, and shows those that wait ${JSON.stringify(options)}`, async () => {
      const id = await app.startRun('send_reminder "take a coat"', ['send_reminder']);
      await app.waitForEvent(id, 'tool:approval_required');
      await open(`/runs/${id}`, options);
      const field = page.getByRole('textbox', { name: 'Message to this run' });
      await field.fill('Hello, are you there?');
      await page.getByLabel('When the model receives it').selectOption('after');
      await page.getByRole('button', { name: 'Send', exact: true }).click();
      const queue = page.getByRole('list', { name: 'Messages that wait' });
      await queue.getByText('Hello, are you there?').waitFor();
      expect(await field.inputValue()).to.equal('');
      await field.fill('Never mind.');
      await field.press('Control+Enter');
      await queue.getByText('Never mind.').waitFor();
      expect(await overflow()).to.equal(0);
      await queue
        .getByRole('listitem')
        .filter({ hasText: 'Never mind.' })
        .getByRole('button', { name: 'Withdraw' })
        .click();
      await queue.getByText('Never mind.').waitFor({ state: 'detached' });
      await queue.getByRole('button', { name: 'Send now' }).click();
      await page.locator('.conversation .message-user').filter({ hasText: 'Hello, are you there?' }).waitFor();
      await queue.waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Approve', exact: true }).click();
      await page.locator('.run-page[data-state="completed"]').waitFor();
      expect(await field.count()).to.equal(0);
    });

  for (const options of [
    { viewport: { width: 390, height: 844 } },
    { viewport: { width: 390, height: 844 }, colorScheme: 'dark' } as const,
    { colorScheme: 'dark' } as const,
  ])
    it(`names what broke the cached prefix of a turn: ${JSON.stringify(options)}`, async () => {
      const id = await finishedRun('get_weather for Oslo', ['get_weather']);
      await app.server.host.requestLog.flush();
      await open(`/runs/${id}`, options);
      // The simulator caches nothing.
      await page.route('**/api/requests?**', async (route) => {
        const response = await route.fetch();
        const { requests, ...rest } = (await response.json()) as { readonly requests: readonly RequestView[] };
        const [first, second] = requests.map((request, index) => {
          const input_tokens_details = { cached_tokens: index === 0 ? 3_900 : 0, cache_write_tokens: 0 };
          const prompt = { tools: `tools ${index}`, instructions: 'i' };
          return { ...request, prompt, usage: { ...request.usage, input_tokens: 4_000 + index, input_tokens_details } };
        });
        await route.fulfill({ response, json: { ...rest, requests: [first, second] } });
      });
      await page.reload();
      const card = page.locator('#turn-2');
      await card.getByText('Cache missed').waitFor();
      expect(await page.getByText('Cache missed').count()).to.equal(1);
      await card.locator('summary').click();
      await card.getByText('missed: the tools changed').waitFor();
      expect(await overflow()).to.equal(0);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate<AxeResults>(`axe.run('#turn-2')`);
      expect(violations.map(({ id: rule, nodes }) => [rule, nodes.map(({ html }) => html)])).to.deep.equal([]);
    });

  it('runs again with another model, and links both runs', async () => {
    const id = await finishedRun('get_weather for Oslo', ['get_weather']);
    await open(`/runs/${id}`);
    await page.getByRole('button', { name: 'Run again…' }).click();
    expect(await page.getByLabel('Prompt').inputValue()).to.equal('get_weather for Oslo');
    await page.locator('.again select').selectOption('anthropic');
    await page.getByRole('combobox', { name: 'Model' }).fill('claude-sonnet-5-5');
    const again = await startFromForm();
    await page.locator('.fact').filter({ hasText: 'claude-sonnet-5-5' }).waitFor();
    const { module, requestLog, operations } = app.server.host;
    const [first, second] = [await module.runs.load(id), await module.runs.load(again)];
    expect(second?.run).to.include({ providerId: 'anthropic', model: 'claude-sonnet-5-5' });
    expect([second?.run.input, second?.run.plan.tools]).to.deep.equal([first?.run.input, first?.run.plan.tools]);
    await requestLog.flush();
    const { requests } = await operations['ai.requests.list'](ADMIN, { executionId: again });
    expect(
      requests.map(({ providerId, model }) => `${providerId} ${model}`),
      'the model that answered',
    ).to.deep.equal(['anthropic claude-sonnet-5-5', 'anthropic claude-sonnet-5-5']);
    await page
      .locator('[data-relation="origin"]')
      .getByRole('link', { name: id.slice(0, 8) })
      .click();
    await page
      .locator('[data-relation="again"]')
      .getByRole('link', { name: again.slice(0, 8) })
      .waitFor();
  });

  it('forks from turn 2, with a message', async () => {
    const id = await finishedRun('get_weather for Rome', ['get_weather']);
    await open(`/runs/${id}`);
    await page.locator('[data-turn="2"] summary').click();
    await page.getByRole('button', { name: 'Fork from turn 2…' }).click();
    await page.getByLabel('Message to add (optional)').fill('Say it briefly.');
    await startFromForm();
    await page.getByText('Forked from turn 2 of').waitFor();
    await page.getByText('Say it briefly.').first().waitFor();
    expect(await page.locator('.conversation-call').count(), 'the call before turn 2 is part of the input').to.equal(1);
  });

  it('compares two runs side by side, and stacked on phones', async () => {
    const left = await finishedRun('get_weather for Oslo', ['get_weather']);
    const right = await finishedRun('get_weather for Lisbon and get_time', ['get_weather', 'get_time']);
    await open(`/runs/${left}`);
    await page.getByRole('link', { name: 'Compare', exact: true }).click();
    await page.getByLabel('Find a run, or enter its id').fill(right);
    await page.waitForFunction(() => document.querySelectorAll('.picker-list a').length === 1);
    await page.locator('.picker-list a').click();
    await page.locator('[data-diff="prompt"] ins').first().waitFor();
    expect(await page.locator('[data-diff="prompt"] del').first().textContent()).to.include('Oslo');
    expect(
      await page.locator('[data-pair]').evaluateAll((pairs) => pairs.map((pair) => pair.getAttribute('data-pair'))),
    ).to.deep.equal(['both', 'right']);
    await page.setViewportSize({ width: 390, height: 844 });
    expect(await overflow()).to.equal(0);
  });

  it('rates and tags a run, which a reload keeps', async () => {
    const id = await finishedRun('get_time', ['get_time']);
    await open(`/runs/${id}`);
    await page.getByRole('button', { name: 'Good' }).click();
    await page.getByLabel('Comment').fill('Just right.');
    await page.getByRole('button', { name: 'Save comment' }).click();
    await page.getByRole('button', { name: 'Saved' }).waitFor();
    await page.getByLabel('Add a tag').fill('golden, v2');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('link', { name: 'golden' }).waitFor();
    await page.reload();
    await page.locator('.thumb-up[aria-pressed="true"]').waitFor();
    expect(await page.getByLabel('Comment').inputValue()).to.equal('Just right.');
    expect(await page.locator('.tag-chip a').allTextContents()).to.deep.equal(['golden', 'v2']);
  });

  it('shows the feedback of others at once, and retains what is being written', async () => {
    const id = await finishedRun('get_time', ['get_time']);
    await open(`/runs/${id}`);
    await page.getByRole('heading', { name: 'Feedback and tags' }).waitFor();
    await app.post(`/runs/${id}/rating`, { rating: 'down', comment: 'Wrong time.' });
    await page.locator('.thumb-down[aria-pressed="true"]').waitFor();
    expect(await page.getByLabel('Comment').inputValue()).to.equal('Wrong time.');
    await app.post(`/runs/${id}/tags`, { tags: ['checked'] });
    await page.getByRole('link', { name: 'checked' }).waitFor();
    await page.getByLabel('Comment').fill('Wrong time zone.');
    await app.post(`/runs/${id}/rating`, { rating: 'up', comment: 'Right after all.' });
    await page.locator('.thumb-up[aria-pressed="true"]').waitFor();
    expect(await page.getByLabel('Comment').inputValue()).to.equal('Wrong time zone.');
    await page.getByRole('button', { name: 'Bad' }).click();
    await page.locator('.thumb-down[aria-pressed="true"]').waitFor();
    await app.post(`/runs/${id}/rating`, { rating: null });
    await page.getByLabel('Comment').waitFor({ state: 'detached' });
  });

  it('shows what a run has used of its own budget, and none for a run without one', async () => {
    const { loop } = app.server.host.module;
    const budget = { calls: 2, tokens: 5_000, money: 1.5 };
    const { executionId, usage } = await loop.execute('local', {
      model: 'openai/gpt-5.4-mini',
      input: 'Hello',
      budget,
    });
    await open(`/runs/${executionId}`);
    await page.locator('.facts').getByText('1 of 2 calls').waitFor();
    await page.getByText(`${usage.total_tokens} of 5,000 tokens`).waitFor();
    await page.getByText(/^\$0\.\d+ of \$1\.50$/).waitFor();
    const id = await finishedRun('Hello', []);
    await app.go(page, `/runs/${id}`);
    await page.getByText('Tokens in / out').waitFor();
    expect(await page.getByText('Budget of this run').count()).to.equal(0);
  });

  it('opens a run in the playground, with its prompt, instructions, model and tools', async () => {
    const { executionId } = (await app.post('/runs', {
      requestId: 'for-the-playground',
      providerId: 'anthropic',
      model: 'claude-haiku-4-5',
      input: 'get_weather for Oslo',
      instructions: 'Answer in one sentence.',
      tools: ['get_weather'],
    })) as { readonly executionId: string };
    await app.waitForEvent(executionId, 'run:completed');
    await open(`/runs/${executionId}`);
    await page.getByRole('link', { name: 'Open in playground' }).click();
    await page.locator(`.turn[data-run="${executionId}"]`).getByText('get_weather for Oslo').waitFor();
    expect(await page.getByLabel('Instructions').inputValue()).to.equal('Answer in one sentence.');
    expect(await page.getByRole('checkbox', { name: 'get_weather' }).isChecked()).to.equal(true);
    expect(await page.getByRole('combobox', { name: 'Model' }).inputValue()).to.equal('anthropic/claude-haiku-4-5');
  });

  it('saves the complete run as JSON', async () => {
    const id = await finishedRun('get_time', ['get_time']);
    await open(`/runs/${id}`);
    const [download] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('button', { name: 'Export JSON' }).click(),
    ]);
    expect(download.suggestedFilename()).to.equal(`run-${id}.json`);
    const chunks: Buffer[] = [];
    for await (const chunk of await download.createReadStream()) chunks.push(chunk as Buffer);
    const exported = JSON.parse(Buffer.concat(chunks).toString()) as { readonly calls: readonly ToolCall[] };
    expect(exported.calls[0]).to.include({ name: 'get_time', state: 'completed' });
  });

  it('searches and filters events, and opens them to their JSON', async () => {
    const id = await finishedRun('get_weather for Paris', ['get_weather']);
    await open(`/runs/${id}`);
    await page.getByLabel('Search events').fill('paris completed');
    await page.waitForFunction(() => document.querySelectorAll('[data-event]').length > 0);
    await page.locator('[data-event="tool:completed"] button').first().click();
    await page.locator('[data-event="tool:completed"] [role="tree"]').waitFor();
    await page.getByLabel('Search events').fill('no such event');
    await page.getByText('No events match.').waitFor();
  });

  it('neither runs nor is broken by hostile content, at any width', async () => {
    const id = 'hostile-1';
    const name = `${MARKUP}${'n'.repeat(500)}`;
    const call = { executionId: id, name, blocking: true, createdAt: 1_500, startTime: 1_600, endTime: 2_600 };
    const rows = Array.from({ length: 60 }, () => HOSTILE.slice(0, 200)).join(' | ');
    const answer = `# ${MARKUP}\n\n|${'cell|'.repeat(60)}\n|${'---|'.repeat(60)}\n| ${rows} |\n\n${'> '.repeat(300)}deep\n\n\`\`\`\n${'x'.repeat(5_000)}\n\`\`\`\n\n${HOSTILE}`;
    const input = [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: HOSTILE.repeat(20) }] }];
    const transcript = [
      ...input,
      { type: 'function_call', call_id: 'c1', name, arguments: '{}' },
      { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: answer, annotations: [] }] },
    ];
    const snapshot = {
      run: {
        ...RUN,
        _id: id,
        userId: HOSTILE,
        state: 'failed',
        iterations: 1,
        endedAt: 3_000,
        title: HOSTILE,
        model: MARKUP,
        conversationId: HOSTILE.slice(0, 100),
        tags: [MARKUP.slice(0, 60), BIDI],
        metadata: { note: HOSTILE.slice(0, 500) },
        rating: 'down',
        comment: HOSTILE.slice(0, 500),
        ratedBy: HOSTILE,
        ratedAt: 4_000,
        error: { code: 'vendor-error', message: HOSTILE.repeat(5) },
        input: JSON.stringify(input),
        transcript: JSON.stringify(transcript),
      },
      toolCalls: [
        {
          ...call,
          _id: 'a',
          callId: 'c1',
          state: 'completed',
          arguments: JSON.stringify({ [MARKUP]: HOSTILE, [BIDI]: [HOSTILE, { a: { b: MARKUP } }] }),
          result: `${'['.repeat(5_000)}1${']'.repeat(5_000)}`,
        },
        {
          ...call,
          _id: 'b',
          callId: MARKUP,
          state: 'failed',
          arguments: `{"broken": "${HOSTILE}`,
          error: HOSTILE,
          note: HOSTILE,
          progress: 0.5,
        },
      ],
      deltas: [],
    };
    for (const viewport of [
      { width: 1440, height: 900 },
      { width: 390, height: 844 },
    ]) {
      await open('/', { viewport });
      await page.route(`**/runs/${id}`, (route) => route.fulfill({ json: snapshot }));
      await app.go(page, `/runs/${id}`);
      await page.locator('.run-page[data-state="failed"]').waitFor();
      for (const summary of await page.locator('.call > summary').all()) await summary.click();
      await page.locator('.event-row').first().click();
      expect(await page.evaluate('window.hacked'), 'no script ran').to.equal(undefined);
      expect(await page.locator('.markdown img, .markdown script, .markdown style').count()).to.equal(0);
      expect(await overflow(), `at ${viewport.width}`).to.equal(0);
      await page.evaluate(AXE);
      const { violations } = await page.evaluate<AxeResults>(`axe.run('#bolide-content')`);
      expect(violations.map((found) => `${found.id}: ${found.nodes[0]?.html.slice(0, 300) ?? ''}`)).to.deep.equal([]);
      if (viewport.width === 1440) await context.close();
    }
  });
});
