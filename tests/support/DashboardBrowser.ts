/** A running server with its dashboard, and pages of a browser that visit it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page, Request } from 'playwright-core';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import { startDemoServer } from './startDemoServer';
import type { Environment } from '../../imports/host/settings/environment';
import type { RunningServer } from '../../imports/host/node/startServer';

export const TOKEN = 'a-token-for-the-dashboard-tests';

/** What a failed test reports of a page. */
interface PageTraffic {
  /** Requests whose responses are not complete, as method and URL. */
  readonly open: Map<Request, string>;
  /** Requests that failed, with the reason. */
  readonly failed: string[];
}

/** Pages see an answer while it is streamed. */
const STREAM_PAUSE_MS = 15;

export class DashboardBrowser {
  readonly server: RunningServer;
  readonly browser: Browser;
  /** Every event of the server's loop, in order. */
  readonly events: AgentEvent[] = [];
  /** The console errors and warnings of every page. */
  readonly consoleErrors: string[] = [];
  private readonly directory: string;
  private readonly traffic = new Map<Page, PageTraffic>();

  private constructor(server: RunningServer, browser: Browser, directory: string) {
    this.server = server;
    this.browser = browser;
    this.directory = directory;
    server.host.module.loop.on('event', (event) => this.events.push(event));
  }

  /** @param data a directory with data; it is removed in the end */
  static async start(browser: Browser, data?: string, env: Environment = {}): Promise<DashboardBrowser> {
    const directory = data ?? (await mkdtemp(join(tmpdir(), 'bolide-dashboard-')));
    const settings = { PORT: '0', BOLIDE_API_TOKEN: TOKEN, DATA_DIR: directory, ...env };
    return new DashboardBrowser(await startDemoServer(settings, STREAM_PAUSE_MS), browser, directory);
  }

  /** Closes the server. Pages that are open then lose their connection. */
  async close(): Promise<void> {
    const ended = new Set(
      this.events
        .filter(({ type }) => /^run:(completed|failed|cancelled)$/.test(type))
        .map((event) => event.executionId),
    );
    for (const { executionId } of this.events)
      if (!ended.has(executionId)) await this.server.host.module.loop.cancel(executionId);
    await this.server.close();
    await rm(this.directory, { recursive: true, force: true });
  }

  /** A browser profile that has never visited the dashboard. */
  async newVisitor(
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    // Long enough for a slow machine.
    page.setDefaultTimeout(120_000);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.consoleErrors.push(message.text());
    });
    page.on('pageerror', (error) => this.consoleErrors.push(error.message));
    this.record(page);
    return { context, page };
  }

  /** The address, the requests and the text of every open page, for the report of a failed test. */
  async describePages(): Promise<string> {
    const described = [...this.traffic].map(async ([page, { open, failed }]) => {
      const text = await page.innerText('body', { timeout: 2_000 }).catch(String);
      return [page.url(), `open: ${[...open.values()].join(', ')}`, `failed: ${failed.join(', ')}`, text].join('\n');
    });
    return [...(await Promise.all(described)), `console: ${this.consoleErrors.join('\n')}`].join('\n\n');
  }

  /** A new profile that is signed in, on the given page. */
  async openSignedIn(
    path = '/',
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
    const visitor = await this.newVisitor(options);
    await visitor.page.goto(`${this.server.url}/#token=${TOKEN}`);
    await visitor.page.waitForSelector('h1:text("Overview")');
    if (path !== '/') await this.go(visitor.page, path);
    return visitor;
  }

  async go(page: Page, path: string): Promise<void> {
    await page.goto(`${this.server.url}/#${path}`);
  }

  /** Starts a run over the HTTP API. @returns its id */
  async startRun(input: string, tools: readonly string[] = [], providerId = 'openai'): Promise<string> {
    const requestId = Math.random().toString(36).slice(2);
    const { executionId } = (await this.post('/api/runs', { requestId, providerId, input, tools })) as {
      executionId: string;
    };
    return executionId;
  }

  /** Sends a request of the HTTP API, as somebody does who is not on the page. @returns the response's body */
  async post(path: string, body: object): Promise<unknown> {
    const response = await fetch(`${this.server.url}${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    expect(response.ok, `${response.status} for ${path}`).to.equal(true);
    return response.json();
  }

  /** Resolves once the loop has emitted such an event. */
  async waitForEvent(executionId: string, type: AgentEvent['type'], name?: string): Promise<void> {
    const isMatch = (event: AgentEvent): boolean =>
      event.executionId === executionId &&
      event.type === type &&
      (name === undefined || ('name' in event && event.name === name));
    if (this.events.some(isMatch)) return;
    const { loop } = this.server.host.module;
    await new Promise<void>((resolve) => {
      const check = (event: AgentEvent): void => {
        if (!isMatch(event)) return;
        loop.off('event', check);
        resolve();
      };
      loop.on('event', check);
    });
  }

  /** The run's events that its event log shows. */
  loggedEvents(executionId: string): readonly string[] {
    return this.events.flatMap((event) =>
      event.executionId === executionId && event.type !== 'llm:delta' && event.type !== 'tool:progress'
        ? ['name' in event ? `${event.type} ${event.name}` : event.type]
        : [],
    );
  }

  private record(page: Page): void {
    const traffic: PageTraffic = { open: new Map(), failed: [] };
    this.traffic.set(page, traffic);
    page.on('request', (request) => traffic.open.set(request, `${request.method()} ${request.url()}`));
    page.on('requestfinished', (request) => traffic.open.delete(request));
    page.on('requestfailed', (request) => {
      traffic.open.delete(request);
      traffic.failed.push(`${request.method()} ${request.url()}: ${request.failure()?.errorText ?? ''}`);
    });
    page.on('close', () => this.traffic.delete(page));
  }
}
