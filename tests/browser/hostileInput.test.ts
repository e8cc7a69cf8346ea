/**
 * Texts from models and users that try to break or script the dashboard, on every page of its table: markup,
 * `javascript:` links, remote images, bidirectional overrides, broken surrogates, and megabytes.
 */
import { readFileSync } from 'node:fs';
import type { AxeResults } from 'axe-core';
import { expect } from 'chai';
import type { Browser, Page } from 'playwright-core';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import type { RunningServer } from '../../imports/host/node/startServer';
import { PAGES } from '../../imports/ui/pages';
import { until } from '../support/until';
import { INITIALIZE, jsonRpc, serveMcp } from '../support/mcp/serveMcp';
import type { ServedMcp } from '../support/mcp/serveMcp';
import { withBrowser } from '../support/withBrowser';
import { recordEvents } from '../support/recordEvents';
import type { EventRecord } from '../support/recordEvents';
import { startStandalone } from '../support/startStandalone';

const AXE = readFileSync(require.resolve('axe-core/axe.min.js'), 'utf8');
const TOKEN = 'the-token-of-hostile-tests';

const MARKUP = [
  '<img src=x onerror="canary()">',
  '"><script>canary()</script>',
  '<svg onload=canary()><a href="javascript:canary()">tap</a></svg>',
  '<iframe srcdoc="<script>parent.canary()</script>"></iframe>',
  '<style>*{display:none}</style>',
  '[tap](javascript:canary()) [tap](JaVaScRiPt:canary()) [tap](data:text/html,<script>canary()</script>)',
  '![pixel](https://tracker.example/pixel.png) ![pixel](//tracker.example/pixel.png)',
  '<https://tracker.example> &lt;b&gt; \u0000 {{constructor}} ${canary()}',
].join(' ');
const BIDI = '\u202e\u2066dlrow\u2069 \u200f\u200b\u200d\ufeff a\u0301\u0301\u0301 \u{1F468}\u200d\u{1F469}';
const SURROGATES = 'before \ud800 between \udfff after';
const LONG_WORD = 'W'.repeat(4_000);
/** The input of users, whose broken Unicode is refused. */
const INPUT = `${MARKUP} ${BIDI} ${LONG_WORD}`;
/** The output of models. */
const HOSTILE = `${INPUT} ${SURROGATES}`;
/** One line without control characters, as names have to be. */
const NAME = `<img src=x onerror=canary()> \u202e${'n'.repeat(60)}`;
const MEGABYTES = `${HOSTILE}\n\n${'| a | b |\n'.repeat(50_000)}${'> '.repeat(5_000)}${'**_'.repeat(100_000)}`;

/** Pages that show no such text: models are named by vendors, prompts are listed on request, servers by their names. */
const WITHOUT_TEXTS = ['/usage', '/playground', '/mcp-servers'];

/** A text, because compiled functions need helpers that a page lacks. */
const WATCHING = `
  window.ran = 0;
  window.violations = [];
  window.canary = () => { window.ran += 1; };
  document.addEventListener('securitypolicyviolation', ({ violatedDirective, blockedURI }) => {
    window.violations.push(violatedDirective + ' ' + blockedURI);
  });
`;

declare global {
  interface Window {
    ran: number;
    violations: string[];
  }
}

describe('hostile input', function () {
  this.timeout(900_000);
  let simulator: Simulator;
  let server: RunningServer;
  let browser: Browser;
  let events: EventRecord;
  let mcpServer: ServedMcp;
  /** Paths of entries, by the path of their page. */
  const entries = new Map<string, readonly string[]>();

  withBrowser(async (opened) => {
    browser = opened;
    simulator = await startSimulator();
    server = await startStandalone({
      BOLIDE_API_TOKEN: TOKEN,
      OPENAI_API_KEY: 'any',
      OPENAI_API_BASE: simulator.baseURL('openai'),
      AI_ALLOW_PRIVATE_HOSTS: 'true',
      REQUEST_LOG_BODIES: 'on',
    });
    events = recordEvents(server.host.module.loop);
    server.host.module.tools.register({
      name: `tool_${'t'.repeat(59)}`,
      description: INPUT,
      needsApproval: true,
      execute: () => HOSTILE,
    });
    mcpServer = await serveMcp(
      jsonRpc({
        ...INITIALIZE,
        'tools/list': () => ({
          tools: [{ name: 'hostile', description: HOSTILE.slice(0, 3_000), inputSchema: { type: 'object' } }],
        }),
      }),
    );
    await seed();
  });
  after(async () => {
    await (server as RunningServer | undefined)?.close();
    await (mcpServer as ServedMcp | undefined)?.close();
    await (simulator as Simulator | undefined)?.close();
  });

  async function post(path: string, body: object): Promise<Readonly<Record<string, unknown>>> {
    const response = await fetch(server.url + path, {
      method: 'POST',
      headers: { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' },
      body: JSON.stringify(body),
    });
    const text = await response.text();
    expect(response.status, `${path}: ${text.slice(0, 500)}`).to.be.below(300);
    return text === '' ? {} : (JSON.parse(text) as Readonly<Record<string, unknown>>);
  }

  async function get(path: string): Promise<unknown> {
    const response = await fetch(server.url + path, { headers: { authorization: `Bearer ${TOKEN}` } });
    return response.json();
  }

  async function seed(): Promise<void> {
    const started: string[] = [];
    const run = async (fields: object): Promise<string> => {
      const request = { requestId: `hostile-${started.length}`, providerId: 'openai', input: INPUT, ...fields };
      const executionId = String((await post('/runs', request))['executionId']);
      started.push(executionId);
      return executionId;
    };
    const seen = (type: 'run:completed' | 'run:failed' | 'tool:approval_required', executionId: string) =>
      events.seen(type, (event) => event.executionId === executionId);
    simulator.enqueue({ text: HOSTILE });
    await seen('run:completed', await run({ instructions: INPUT, tags: ['<b>tag'] }));
    simulator.enqueue({ text: MEGABYTES });
    await seen('run:completed', await run({ input: MEGABYTES.replaceAll(SURROGATES, '') }));
    // A tool that does not exist, and arguments that are not JSON.
    simulator.enqueue(
      { calls: [{ name: 'canary', arguments: { [HOSTILE.slice(0, 200)]: HOSTILE, list: [HOSTILE] } }] },
      { text: HOSTILE },
    );
    await seen('run:completed', await run({ tools: ['get_weather'] }));
    simulator.enqueue({ calls: [{ name: `tool_${'t'.repeat(59)}`, arguments: { text: HOSTILE } }] });
    await seen('tool:approval_required', await run({ tools: [`tool_${'t'.repeat(59)}`] }));
    simulator.enqueue({ status: 400, body: { error: { message: HOSTILE, type: 'invalid_request_error' } } });
    await seen('run:failed', await run({}));
    entries.set(
      'runs',
      started.map((id) => `/runs/${id}`),
    );
    await post('/prompts', { name: NAME, shared: true, content: { input: INPUT, instructions: INPUT } });
    // Names of tokens and providers refuse invisible characters.
    const name = NAME.replaceAll('\u202e', '');
    await post('/tokens', { name });
    await post('/providers', {
      providerId: 'hostile',
      name,
      vendor: 'openai_compatible',
      baseURL: simulator.baseURL('openai'),
      auth: { kind: 'api_key' },
      apiKey: 'sk-any',
      access: 'everyone',
    });
    const { operations, module } = server.host;
    const admin = { userId: 'local', isAdmin: true, source: 'http' } as const;
    await operations['ai.budgets.set'](admin, { userId: NAME, limits: { day: { calls: 5 } } });
    await operations['ai.routing.save'](admin, {
      name: 'hostile-rule',
      description: name,
      targets: ['openai/<b>canary()'],
    });
    await operations['ai.memory.save'](admin, { text: INPUT.slice(0, 4_000) });
    await operations['ai.mcpServers.save'](admin, {
      name: 'hostile',
      url: mcpServer.url,
      headers: { authorization: 'canary' },
    });
    await until(async () => (await operations['ai.mcpServers.get'](admin, { name: 'hostile' })).tools.length > 0);
    entries.set('mcp-servers', ['/mcp-servers/hostile']);
    const later = { requestId: 'hostile-later', providerId: 'openai', input: INPUT, tools: [] };
    await module.useCases.queueRun.execute({ userId: 'local', source: 'job' }, later, Date.now() + 86_400_000);
    entries.set('usage', ['/usage?by=tool&range=30d']);
    simulator.enqueue({ text: HOSTILE });
    await post('/v1/responses', { model: 'openai', input: INPUT });
    await server.host.requestLog.flush();
    const { requests } = (await get('/requests')) as { readonly requests: readonly { readonly _id: string }[] };
    entries.set(
      'requests',
      requests.map(({ _id }) => `/requests/${_id}`),
    );
  }

  /** Counts scripts that ran and policies that were violated, from the first moment of the page. */
  const watch = async (page: Page, faults: string[]): Promise<void> => {
    await page.addInitScript({ content: WATCHING });
    page.on('console', (message) => {
      if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text().slice(0, 300)}`);
    });
    page.on('pageerror', (error) => faults.push(`error: ${error.message.slice(0, 300)}`));
    page.on('request', (request) => {
      const url = request.url();
      if (!url.startsWith(server.url) && !url.startsWith('data:')) faults.push(`request: ${url.slice(0, 200)}`);
    });
    page.on('dialog', (dialog) => faults.push(`dialog: ${dialog.message()}`));
  };

  /** Other than in a menu, which is closed. */
  const showsText = (page: Page): Promise<boolean> =>
    page
      .waitForFunction(
        () =>
          [...document.querySelectorAll('main *:not(option)')].some(
            (element) => element.childElementCount === 0 && element.textContent.includes('canary'),
          ),
        undefined,
        { timeout: 20_000 },
      )
      .then(
        () => true,
        () => false,
      );

  const inspect = async (page: Page, path: string): Promise<readonly string[]> => {
    // Everything that a page folds away is looked at, too.
    await page.evaluate(() => {
      for (const details of document.querySelectorAll('details')) details.open = true;
    });
    await page.evaluate(AXE);
    const { violations } = await page.evaluate<AxeResults>('axe.run(document)');
    const found = await page.evaluate(() => ({
      ran: window.ran,
      violations: window.violations,
      overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
      wide: [...document.querySelectorAll('main *')].flatMap((element) =>
        element.getBoundingClientRect().right > document.documentElement.clientWidth + 1 ? [element.className] : [],
      ),
      links: [...document.querySelectorAll('a[href], area[href], form[action]')].flatMap((element) => {
        const url = element.getAttribute('href') ?? element.getAttribute('action') ?? '';
        return /^\s*(?:javascript|data|vbscript):/i.test(url) ? [url.slice(0, 100)] : [];
      }),
      images: [...document.querySelectorAll('img')].flatMap(({ src }) =>
        src.startsWith('data:image/') || src.startsWith(location.origin) ? [] : [src.slice(0, 100)],
      ),
      elements: document.querySelectorAll('main iframe, main script, main object, main embed, main style').length,
    }));
    return [
      ...(found.ran > 0 ? [`${found.ran} scripts ran`] : []),
      ...found.violations.map((violation) => `policy: ${violation}`),
      ...(found.overflow > 0 ? [`scrolls by ${found.overflow} px: ${found.wide.slice(0, 12).join(', ')}`] : []),
      ...found.links.map((link) => `link: ${link}`),
      ...found.images.map((image) => `image: ${image}`),
      ...(found.elements > 0 ? [`${found.elements} foreign elements`] : []),
      ...violations.flatMap(({ id, nodes }) => nodes.map((node) => `axe ${id}: ${node.html.slice(0, 160)}`)),
    ].map((fault) => `${path}: ${fault}`);
  };

  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1440, 390])
      it(`neither scripts nor breaks any page: ${colorScheme}, ${width} px`, async () => {
        const context = await browser.newContext({
          colorScheme,
          viewport: { width, height: 900 },
          reducedMotion: 'reduce',
        });
        const page = await context.newPage();
        page.setDefaultTimeout(120_000);
        const faults: string[] = [];
        await watch(page, faults);
        await page.goto(`${server.url}/#token=${TOKEN}`);
        await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
        for (const { path, detail } of PAGES) {
          const details = entries.get(path) ?? [];
          if (detail !== undefined) expect(details, `entries of ${path} to open`).to.not.be.empty;
          for (const route of [`/${path}`, ...details]) {
            await page.goto(`${server.url}/#${route}`);
            await page.locator('main h1').first().waitFor();
            await page.waitForFunction(() => document.querySelector('.skeleton') === null);
            if (!WITHOUT_TEXTS.includes(route) && !(await showsText(page))) faults.push(`${route}: shows no such text`);
            faults.push(...(await inspect(page, route)));
          }
        }
        await context.close();
        expect(faults).to.deep.equal([]);
      });

  it('detects what it looks for', async () => {
    const context = await browser.newContext();
    const page = await context.newPage();
    const faults: string[] = [];
    await watch(page, faults);
    await page.goto(`${server.url}/#token=${TOKEN}`);
    await page.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
    await page.evaluate(() => {
      const main = document.querySelector('main');
      main?.insertAdjacentHTML('beforeend', '<img src=x onerror="canary()"><a href="javascript:canary()">tap</a>');
      main?.insertAdjacentHTML('beforeend', '<img alt="" src="https://tracker.example/pixel.png">');
      main?.insertAdjacentHTML('beforeend', `<pre>${'wide'.repeat(1_000)}</pre>`);
    });
    await page.waitForFunction(() => window.violations.length >= 2);
    const found = (await inspect(page, '/')).join('\n');
    for (const fault of [
      'policy: script-src',
      'policy: img-src',
      'scrolls by',
      'link: javascript',
      'image: https',
      'axe ',
    ])
      expect(found).to.include(fault);
    expect(found).to.not.include('scripts ran');
    await context.close();
  });
});
