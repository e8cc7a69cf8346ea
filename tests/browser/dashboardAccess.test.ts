/** Accessibility of every page of the dashboard: axe's rules in light and dark, at desktop and phone width. */
import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import { expect } from 'chai';
import type { Page } from 'playwright-core';
import type { DashboardBrowser } from '../support/DashboardBrowser';
import { withDashboard } from '../support/withDashboard';

const ADMIN = { userId: 'local', isAdmin: true, source: 'http' } as const;
const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');

describe('the accessibility of the dashboard', () => {
  let app: DashboardBrowser;
  let live: string;
  withDashboard(async (started) => {
    app = started;
    for (const input of ['Tell me about meteors.', 'What is the weather in Lisbon and Oslo?'])
      await app.waitForEvent(await app.startRun(input, ['get_weather']), 'run:completed');
    const cancelled = await app.startRun('render_video "night" 60 seconds', ['render_video']);
    await app.waitForEvent(cancelled, 'tool:executing');
    await app.server.host.module.loop.cancel(cancelled);
    live = await app.startRun(
      'send_reminder "take a coat", render_video "fog" 60 seconds, consult_expert "Is it safe?", get_weather for Lisbon',
      ['send_reminder', 'render_video', 'consult_expert', 'get_weather'],
    );
    await app.waitForEvent(live, 'tool:approval_required');
    await app.waitForEvent(live, 'tool:executing', 'render_video');
    const { host } = app.server;
    await host.apiTokens.tokens.issue({
      userId: 'ann',
      name: 'reports',
      scopes: ['read'],
      team: 'red',
      tags: ['nightly'],
      models: ['openai/*', 'claude-*'],
      budgets: { day: { calls: 0, tokens: 1_000 }, month: { money: 20 } },
      rateLimits: { requestsPerMinute: 60, parallel: 4 },
    });
    await host.operations['ai.routing.save'](ADMIN, {
      name: 'safe',
      targets: ['openai', 'nobody/model'],
      timeout: 30_000,
    });
    await host.operations['ai.mcpServers.save'](ADMIN, { name: 'docs', url: 'https://mcp.invalid', enabled: false });
    await host.operations['ai.budgets.set'](ADMIN, { userId: 'ann', limits: { day: { calls: 0, money: 1 } } });
    await host.module.jobs.schedule({ name: 'nightly', cron: '0 3 * * *' }, () => Promise.resolve());
    const request = { requestId: 'later', providerId: 'openai', input: 'Report.', tools: [] };
    await host.module.useCases.queueRun.execute({ userId: 'local', source: 'job' }, request, Date.now() + 86_400_000);
  });

  const violations = async (page: Page): Promise<readonly string[]> => {
    await page.evaluate(AXE);
    const { violations: found } = await page.evaluate<AxeResults>('axe.run(document)');
    return found.flatMap(({ id, nodes }) =>
      nodes.map((node) => `${id}: ${node.html.slice(0, 160)} — ${node.failureSummary ?? ''}`),
    );
  };
  const overflow = (page: Page) =>
    page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

  const PAGES = [
    ['/', '.run-row'],
    ['/runs', '.run-row'],
    ['/runs?search=nothing-like-it', '.placeholder'],
    ['a live run', '.decision'],
    ['/playground', '.composer'],
    ['/tools', '[data-tool]'],
    ['/providers', '[data-provider]'],
    ['/inbox', '[data-entry]'],
    ['/tokens', '[data-token]'],
    ['/routing', '[data-rule]'],
    ['/mcp-servers', '[data-mcp-server]'],
    ['/mcp-servers/docs', '.placeholder'],
    ['/budgets', '[data-user]'],
    ['/queue', '[data-queued]'],
    ['/audit', '[data-audit]'],
    ['/audit?search=nothing-like-it', '.placeholder'],
    ['/nowhere', '.placeholder'],
  ] as const;

  for (const colorScheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      it(`violates no rule and fits the viewport: ${colorScheme}, ${width} px`, async () => {
        const { context, page } = await app.openSignedIn('/', {
          colorScheme,
          viewport: { width, height: 850 },
          reducedMotion: 'reduce',
        });
        for (const [path, landmark] of PAGES) {
          await app.go(page, path === 'a live run' ? `/runs/${live}` : path);
          await page.locator(landmark).first().waitFor();
          if (path === 'a live run')
            for (const summary of await page.locator('.call summary').all()) await summary.click();
          expect(await violations(page), path).to.deep.equal([]);
          expect(await overflow(page), `${path} does not overflow`).to.equal(0);
        }
        await page.getByRole('button', { name: /Sign out/ }).click();
        await page.getByRole('heading', { name: 'Sign in' }).waitFor();
        expect(await violations(page), 'signing in').to.deep.equal([]);
        await context.close();
      });
    }
  }

  it('detects an image without alternative text', async () => {
    const { context, page } = await app.openSignedIn();
    await page.evaluate(() => document.querySelector('main')?.append(document.createElement('img')));
    expect(await violations(page)).to.have.length(1);
    await context.close();
  });

  it('has touch targets of at least 24 px at phone width', async () => {
    const { context, page } = await app.openSignedIn(`/runs/${live}`, { viewport: { width: 390, height: 850 } });
    await page.locator('.decision').first().waitFor();
    await page.locator('.event-row').first().waitFor();
    // Found and measured in one step: the page, which is live, may replace its rows between two.
    const { measured, small } = await page.evaluate(() => {
      const targets = [...document.querySelectorAll('button, a.button, nav a')]
        .filter((target) => target.checkVisibility({ visibilityProperty: true }))
        // A turn's bar is as long as the turn. The list of turns opens the same.
        .filter((target) => target.closest('.breadcrumbs, .timeline') === null);
      return {
        measured: targets.length,
        small: targets.flatMap((target) => {
          const { width, height } = target.getBoundingClientRect();
          return width < 24 || height < 24 ? [`${target.outerHTML.slice(0, 90)} is ${width} by ${height}`] : [];
        }),
      };
    });
    expect(small).to.deep.equal([]);
    expect(measured).to.be.greaterThan(10);
    await context.close();
  });
});
