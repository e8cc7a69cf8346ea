/** A running server with its dashboard, and people's browsers in front of it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import type { Browser, BrowserContext, Page } from 'playwright-core';
import type { AgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import { startServer } from '../../server/standalone';
import type { RunningServer } from '../../server/standalone';
import { openBrowser } from './openBrowser';

export const TOKEN = 'a-token-for-the-dashboard-tests';

export class DashboardBrowser {
  readonly server: RunningServer;
  readonly browser: Browser;
  /** Everything that the server's loop told, in order. */
  readonly events: AgentEvent[] = [];
  /** Errors and warnings of every page. */
  readonly complaints: string[] = [];
  private readonly directory: string;

  private constructor(server: RunningServer, browser: Browser, directory: string) {
    this.server = server;
    this.browser = browser;
    this.directory = directory;
    server.host.module.loop.on('event', (event) => this.events.push(event));
  }

  /** Undefined where there is no browser. */
  static async start(): Promise<DashboardBrowser | undefined> {
    const browser = await openBrowser();
    if (browser === undefined) return undefined;
    const directory = await mkdtemp(join(tmpdir(), 'bolide-dashboard-'));
    return new DashboardBrowser(
      await startServer({ PORT: '0', BOLIDE_API_TOKEN: TOKEN, DATA_DIR: directory }),
      browser,
      directory,
    );
  }

  async close(): Promise<void> {
    await this.browser.close();
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

  /** A browser of somebody who has not been here before. */
  async person(
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
    const context = await this.browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
    const page = await context.newPage();
    // Long enough for a slow machine; what never comes fails all the same.
    page.setDefaultTimeout(60_000);
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) this.complaints.push(message.text());
    });
    page.on('pageerror', (error) => this.complaints.push(error.message));
    return { context, page };
  }

  /** The same, signed in, on the page of that address. */
  async signedIn(
    path = '/',
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ readonly context: BrowserContext; readonly page: Page }> {
    const person = await this.person(options);
    await person.page.goto(`${this.server.url}/#token=${TOKEN}`);
    await person.page.waitForSelector('h1:text("Overview")');
    if (path !== '/') await this.go(person.page, path);
    return person;
  }

  async go(page: Page, path: string): Promise<void> {
    await page.goto(`${this.server.url}/#${path}`);
  }

  /** Starts a run as a program would. @returns its id */
  async run(input: string, tools: readonly string[] = [], providerId = 'openai'): Promise<string> {
    const answer = await fetch(`${this.server.url}/runs`, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify({ requestId: Math.random().toString(36).slice(2), providerId, input, tools }),
    });
    expect(answer.status, 'the run starts').to.equal(202);
    return ((await answer.json()) as { executionId: string }).executionId;
  }

  /** Resolves when the loop has told such an event. */
  async seen(executionId: string, type: AgentEvent['type'], name?: string): Promise<void> {
    const isIt = (event: AgentEvent): boolean =>
      event.executionId === executionId &&
      event.type === type &&
      (name === undefined || ('name' in event && event.name === name));
    if (this.events.some(isIt)) return;
    const { loop } = this.server.host.module;
    await new Promise<void>((resolve) => {
      const look = (event: AgentEvent): void => {
        if (!isIt(event)) return;
        loop.off('event', look);
        resolve();
      };
      loop.on('event', look);
    });
  }

  /** What the run told, without the pieces that no log shows. */
  told(executionId: string): readonly string[] {
    return this.events.flatMap((event) =>
      event.executionId === executionId && event.type !== 'llm:delta' && event.type !== 'tool:progress'
        ? ['name' in event ? `${event.type} ${event.name}` : event.type]
        : [],
    );
  }
}
