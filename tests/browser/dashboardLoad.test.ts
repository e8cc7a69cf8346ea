/** Two hundred concurrent runs and five open pages: rendering stays bounded, and the pages stay responsive. */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, CDPSession, Page } from 'playwright-core';
import type { LoopDelay } from '../support/measuredServer';
import { withBrowser } from '../support/withBrowser';

const RUNS = 200;
/** Rows on a page of the list. */
const ROWS = 50;
const PAGES = 5;
const TOKEN = 'a-token-for-the-load-tests';

describe('the dashboard with 200 runs in flight and five open pages', function () {
  this.timeout(480_000);
  let browser: Browser;
  let server: ChildProcess;
  let directory: string;
  let url: string;
  withBrowser(async (opened) => {
    browser = opened;
    directory = await mkdtemp(join(tmpdir(), 'bolide-load-'));
    server = fork(join(__dirname, '../support/measuredServer.ts'), {
      execArgv: ['--require', 'tsx/cjs'],
      env: { ...process.env, PORT: '0', BOLIDE_API_TOKEN: TOKEN, DATA_DIR: directory },
      stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    });
    [{ url }] = (await once(server, 'message')) as [{ url: string }];
  });
  after(async () => {
    if ((server as ChildProcess | undefined) === undefined) return;
    const exited = once(server, 'exit');
    server.send('stop');
    await exited;
    await rm(directory, { recursive: true, force: true });
  });

  it('renders few rows, blocks rarely, and keeps every page up to date', async () => {
    // Warms up what is created once, such as the simulator's validators.
    await start(-1, []);
    const pages = await Promise.all(Array.from({ length: PAGES }, () => openPage()));
    const sessions = await Promise.all(pages.map((page) => page.context().newCDPSession(page)));
    for (const session of sessions) await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const before = await Promise.all(sessions.map(secondsOf));
    server.send('measure');
    const from = Date.now();
    const ids = new Set<string>();
    await Promise.all(
      Array.from({ length: 20 }, async (_, worker) => {
        for (let index = worker; index < RUNS; index += 20) ids.add(await start(index));
      }),
    );
    expect(ids.size).to.equal(RUNS);
    // The videos take longer than any machine needs to start them all.
    for (const page of pages) await page.locator('.run-total-state', { hasText: `${RUNS} waiting` }).waitFor();
    // Filters stay responsive under load. The ids of runs have words that begin with 137, but none with s137.
    for (const page of pages) {
      await page.getByRole('searchbox').fill('s137');
      await page.waitForFunction(() => document.querySelectorAll('.run-row').length === 1);
      await page.getByRole('searchbox').fill('');
      await page.waitForFunction((rows) => document.querySelectorAll('.run-row').length === rows, ROWS);
    }
    const rows = await Promise.all(pages.map((page) => page.locator('.run-row').count()));
    await Promise.all([...ids].map((id) => post(`/runs/${id}/cancel`, {})));
    for (const page of pages) await page.locator('.run-total-state', { hasText: `${RUNS} cancelled` }).waitFor();
    const elapsed = Date.now() - from;
    server.send('report');
    const [{ delay }] = (await once(server, 'message')) as [{ delay: LoopDelay }];
    const tasks = await Promise.all(pages.map((page) => page.evaluate<number[]>('window.longTasks')));
    const all = tasks.flat();
    const worked = (await Promise.all(sessions.map(secondsOf))).map((seconds, index) => seconds - (before[index] ?? 0));
    console.log(
      `      server's event loop: p50 ${delay.p50.toFixed(1)} ms, p99 ${delay.p99.toFixed(1)} ms, longest ${delay.max.toFixed(0)} ms`,
    );
    console.log(
      `      pages: ${all.length} long tasks in ${PAGES} × ${(elapsed / 1_000).toFixed(0)} s, longest ${Math.max(0, ...all).toFixed(0)} ms, over 200 ms: ${all.filter((duration) => duration > 200).length}`,
    );
    console.log(`      pages' main threads: ${worked.map((seconds) => seconds.toFixed(1)).join(', ')} s of CPU time`);
    expect(rows, 'rendered rows').to.deep.equal(Array.from({ length: PAGES }, () => ROWS));
    for (const [index, durations] of tasks.entries()) {
      const share = durations.reduce((sum, duration) => sum + duration, 0) / elapsed;
      expect(share, `the share of time in which page ${index} could not be used`).to.be.below(0.5);
    }
  });

  async function secondsOf(session: CDPSession): Promise<number> {
    const { metrics } = await session.send('Performance.getMetrics');
    return metrics.find(({ name }) => name === 'TaskDuration')?.value ?? NaN;
  }

  async function openPage(): Promise<Page> {
    const page = await (await browser.newContext({ viewport: { width: 1280, height: 900 } })).newPage();
    page.setDefaultTimeout(120_000);
    await page.goto(`${url}/#token=${TOKEN}`);
    await page.getByRole('heading', { name: 'Overview' }).waitFor();
    await page.goto(`${url}/runs`);
    await page.getByText('Live', { exact: true }).first().waitFor();
    await page.evaluate(() => {
      const longTasks: number[] = [];
      Object.assign(window, { longTasks });
      new PerformanceObserver((list) => longTasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
        entryTypes: ['longtask'],
      });
    });
    return page;
  }

  async function start(index: number, tools: readonly string[] = ['render_video', 'get_weather']): Promise<string> {
    const { executionId } = await post<{ executionId: string }>('/runs', {
      requestId: `load-${index}`,
      providerId: 'openai',
      input: `get_weather for Lisbon, and render_video "scene s${index}" 600 seconds`,
      tools,
    });
    return executionId;
  }

  async function post<T = unknown>(path: string, body: object): Promise<T> {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.ok, `${path}: ${response.status}`).to.equal(true);
    return (await response.json()) as T;
  }
});
