/** The documentation is true: its code runs, its links resolve, and its reference pages match the code. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, normalize } from 'node:path';
import { expect } from 'chai';
import { DEFAULT_HTTP_LIMITS } from '../../imports/api/createHttpApi';
import { DEFAULT_LIMITS } from '../../imports/business/ai/domain/run/runLimits';
import * as LLMErrors from '../../imports/business/ai/domain/errors/LLMErrors';
import { DEFAULT_JOB_LIMITS } from '../../imports/business/ai/domain/interfaces/JobQueue';
import { DEFAULT_USER_LIMITS } from '../../imports/business/limits/domain/UserLimits';
import { DEFAULT_CALL_LIMITS } from '../../imports/business/ai/infrastructure/factories/createRunOperations';
import { DEFAULT_TOOL_WAIT_MS } from '../../imports/business/ai/application/services/runs/durable/ToolAvailability';
import { DEFAULT_RETENTION } from '../../imports/business/ai/infrastructure/persistence/runs/RunRetention';
import { DEFAULT_REQUEST_RETENTION } from '../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import type { Simulator } from '../../imports/simulator/Simulator';
import { startSimulator } from '../../imports/simulator/startSimulator';
import { readServerSettings } from '../../imports/host/settings/server';
import { VARIABLES } from '../../imports/host/settings/settingTables';
import { configurationReference } from '../../scripts/generate/configurationReference';
import { startStandalone } from '../support/startStandalone';
import { startDemoServer } from '../support/startDemoServer';
import type { RunningServer } from '../../imports/host/node/startServer';
import { allInSoak, describeInSoak } from '../support/soak';
import { eventFields } from '../support/docs/eventFields';
import {
  anchorsOf,
  codeBlocksOf,
  codeIn,
  linksOf,
  proseOf,
  readPage,
  readPages,
  ROOT,
  tableRowsOf,
} from '../support/docs/markdown';
import { METEOR_SETTINGS } from '../support/docs/meteorSettings';
import { programsOf, runProgram, typeErrorsOf } from '../support/docs/programs';
import { routesOf } from '../../scripts/generate/routesOf';
import { OPERATIONS } from '../../imports/host/operations';
import { routesOf as routesOfOperation } from '../../imports/host/defineOperation';
import { OPERATION_TABLE } from '../../imports/ui/data/operationTable';
import { dashboardTable } from '../../scripts/generate/dashboardTable';
import { operationReference } from '../../scripts/generate/operationReference';
import { ALL_ROUTES, routeReview } from '../../scripts/generate/routeReview';
import { testTitles } from '../support/docs/testTitles';
import { isShell, npmCommandsOf } from '../support/docs/shell';

const pages = readPages();
const blocks = pages.flatMap(codeBlocksOf);
const programs = programsOf(blocks);
/** Where a reader's server listens, in every example. */
const BASE = 'http://127.0.0.1:3000';

describe('The documentation', () => {
  let directory: string;
  let server: RunningServer;
  let simulator: Simulator;
  const variablesRead = new Set<string>();

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'bolide-docs-'));
    simulator = await startSimulator();
    const env: Record<string, string | undefined> = {
      PORT: '0',
      DATA_DIR: join(directory, 'server'),
      ...ALL_ROUTES,
    };
    server = await startDemoServer(
      new Proxy(env, {
        get: (target, name: string) => {
          variablesRead.add(name);
          return target[name];
        },
      }),
    );
  });

  after(async () => {
    await server.close();
    await simulator.close();
    await rm(directory, { recursive: true, force: true });
  });

  describe('code', () => {
    it('lists every block that cannot run here, with the reason', () => {
      const counts: Record<string, number> = {};
      for (const { notRun } of blocks) if (notRun !== undefined) counts[notRun] = (counts[notRun] ?? 0) + 1;
      expect(counts).to.deep.equal(NOT_RUN);
    });

    describeInSoak('of TypeScript programs', () => {
      it('is free of type errors', () => {
        expect(programs).not.to.have.length(0);
        expect(typeErrorsOf(programs)).to.deep.equal([]);
      });
    });

    const runnable = programs.filter(({ notRun }) => notRun === undefined);
    for (const program of allInSoak(runnable, 8))
      it(`runs the program at ${program.at}`, async () => {
        const code = program.code.replaceAll(BASE, server.url);
        const env = { DATA_DIR: join(directory, 'program'), BOLIDE_API_TOKEN: server.token };
        await runProgram({ ...program, code }, { simulator, env });
      });

    it('of chats is that of the examples', () => {
      const chats = {
        'element/chat.html': 'web-component',
        'blaze/chat.html': 'blaze',
        'blaze/conversation.ts': 'blaze',
        'svelte/Chat.svelte': 'svelte',
        'vue/Chat.vue': 'vue',
      };
      for (const [file, guide] of Object.entries(chats)) {
        const shown = blocks.filter(({ page }) => page === `docs/guides/${guide}.md`).map(({ code }) => `${code}\n`);
        expect(shown).to.include(readFileSync(join(ROOT, 'examples/clients', file), 'utf8'));
      }
    });

    it('names npm scripts that exist', () => {
      const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as {
        scripts: Record<string, string>;
      };
      const named = blocks
        .filter(isShell)
        .flatMap(npmCommandsOf)
        .map((command) => /^(?:run )?([\w:-]+)/.exec(command)?.[1] ?? command);
      expect(named).to.include.members(['install', 'start', 'test']);
      expect(
        named.filter((name) => !Object.hasOwn(scripts, name) && !['install', 'npx', 'audit', 'ci'].includes(name)),
      ).to.deep.equal([]);
    });

    it('contains only JSON that parses', () => {
      const broken = blocks.filter(({ language, code }) => {
        if (language !== 'json') return false;
        try {
          JSON.parse(code);
          return false;
        } catch {
          return true;
        }
      });
      expect(broken.map(({ at }) => at)).to.deep.equal([]);
    });
  });

  describe('links and paths', () => {
    it('resolve to files and headings', () => {
      const broken = pages.flatMap((page) =>
        linksOf(page).flatMap(({ at, target }) => {
          if (/^(?:https?|mailto):/.test(target)) return [];
          const [path = '', anchor] = target.split('#');
          const file = path === '' ? page.path : normalize(join(dirname(page.path), path));
          // Links of templates lead to GitHub's own pages.
          if (!existsSync(join(ROOT, file))) return [`${at}: ${target}`];
          if (anchor === undefined || !file.endsWith('.md')) return [];
          return anchorsOf(readPage(file)).has(anchor) ? [] : [`${at}: ${target}`];
        }),
      );
      expect(broken).to.deep.equal([]);
    });

    it('name only files and folders of the project that exist', () => {
      const missing = pages
        // The changelog names what was there before.
        .filter(({ path }) => path !== 'CHANGELOG.md')
        .flatMap(({ path, text }) =>
          [...text.matchAll(/(?<![\w./:-])(?:imports|server|client|scripts|examples|tests)\/[\w./-]*\w/g)]
            .map(([name]) => name)
            .filter((name) => !['', '.ts', '.tsx'].some((ending) => existsSync(join(ROOT, name + ending))))
            .map((name) => `${path}: ${name}`),
        );
      expect(missing).to.deep.equal([]);
    });

    // Environment variables are compared with the code below.
    it('name only classes, functions and constants that the code contains', () => {
      const sources = sourcesUnder('imports', 'tests/support', 'tests/stubs');
      const known = new Set(sources.flatMap(({ text }) => text.match(/\w+/g) ?? []));
      const files = new Set(sources.map(({ name }) => name));
      const unknown = pages
        .filter(({ path }) => path !== 'CHANGELOG.md' && !path.startsWith('bench/'))
        .flatMap((page) =>
          codeIn(page.path === COMPARISON ? lastCellsOf(proseOf(page)) : proseOf(page))
            .filter((code) =>
              /^\w+\.tsx?$/.test(code)
                ? code !== READERS_FILE && !files.has(code)
                : /^(?:[A-Z]+[a-z]+\w*[A-Z]\w*|[a-z]+[A-Z]\w*|(?!BOLIDE_|LLM_)[A-Z]+(?:_[A-Z]+)+)$/.test(code) &&
                  !known.has(code) &&
                  !METEOR_SETTINGS.has(code),
            )
            .map((code) => `${page.path}: ${code}`),
        );
      expect(unknown).to.deep.equal([]);
    });

    it('lead from the index to every guide, client, reference page and decision', () => {
      const index = linksOf(readPage('docs/README.md')).map(({ target }) => target.split('#')[0]);
      for (const folder of ['guides', 'clients', 'reference', 'decisions']) {
        const files = readdirSync(join(ROOT, 'docs', folder)).map((name) => `${folder}/${name}`);
        expect(index, folder).to.include.members(files);
      }
    });
  });

  describe('docs/reference/configuration.md', () => {
    const page = readPage('docs/reference/configuration.md');
    const firstCells = tableRowsOf(page).flatMap(([cell = '']) => codeIn(cell));

    it('is generated from the tables of settings, and lists every variable, and no other', () => {
      expect(configurationReference(page.text)).to.equal(page.text);
      expect(firstCells.filter((name) => /^[A-Z][A-Z0-9_]+$/.test(name)).toSorted()).to.deep.equal(
        VARIABLES.toSorted(),
      );
    });

    it('lists what the server reads', () => {
      expect(variablesRead).to.include('PORT');
      const names = [...variablesRead].filter((name) => /^[A-Z][A-Z0-9_]+$/.test(name));
      expect(VARIABLES).to.include.members(names);
    });

    it('states the defaults that the code has', () => {
      const stated = Object.fromEntries(
        tableRowsOf(page).flatMap(([names = '', value = '']) => codeIn(names).map((name) => [name, codeIn(value)[0]])),
      );
      const days = (milliseconds: number): string => String(milliseconds / 86_400_000);
      expect(stated).to.include({
        PORT: String(readServerSettings({}).port),
        HTTP_MAX_BODY_MB: String(DEFAULT_HTTP_LIMITS.maxBodyBytes / 1024 / 1024),
        HTTP_MAX_JSON_VALUES: String(DEFAULT_HTTP_LIMITS.maxJsonValues),
        AI_ALLOW_PRIVATE_HOSTS: String(readServerSettings({}).host.allowPrivateHosts),
        USER_REQUESTS_PER_MINUTE: String(DEFAULT_USER_LIMITS.requestsPerMinute),
        USER_TOKENS_PER_MINUTE: '0',
        USER_PARALLEL_CALLS: String(DEFAULT_USER_LIMITS.parallelCalls),
        USER_CONNECTIONS: String(DEFAULT_USER_LIMITS.connections),
        USER_QUEUED_MESSAGES: String(DEFAULT_USER_LIMITS.queuedMessages),
        JOBS_CONCURRENCY: String(DEFAULT_JOB_LIMITS.concurrency),
        RUNS_KEEP_WHOLE_DAYS: days(DEFAULT_RETENTION.compactAfter),
        RUNS_TOOL_WAIT_SECONDS: String(DEFAULT_TOOL_WAIT_MS / 1_000),
        RUNS_KEEP_DAYS: days(DEFAULT_RETENTION.removeAfter),
        REQUEST_LOG_KEEP_DAYS: days(DEFAULT_REQUEST_RETENTION.entries),
        REQUEST_LOG_BODIES_KEEP_DAYS: days(DEFAULT_REQUEST_RETENTION.bodies),
      });
      const limits: unknown = JSON.parse(stated['callsPerMinute'] ?? '');
      expect(limits).to.deep.equal(DEFAULT_CALL_LIMITS);
    });
  });

  it('runs the same npm commands in the CI workflow as in .ci/run', () => {
    const [job = ''] = readFileSync(join(ROOT, '.github/workflows/ci.yml'), 'utf8').split('\n  newest:');
    const script = readFileSync(join(ROOT, '.ci/run'), 'utf8');
    const commands = [...script.matchAll(/^step '[^']+' (npm .+)$/gm)].map(([, command]) => command);
    expect(commands).to.have.length(5);
    expect([...job.matchAll(/^ +- run: (npm .+)$/gm)].map(([, command]) => command)).to.deep.equal(commands);
  });

  it('states the limits of a run that the code has', () => {
    const stated = Object.fromEntries(
      tableRowsOf(readPage('docs/guides/agentic-loop.md')).map(([name = '', value = '']) => [
        codeIn(name)[0] ?? '',
        Number(value.replaceAll(',', '')),
      ]),
    );
    expect(stated).to.include(DEFAULT_LIMITS);
  });

  it('lists every dependency rule, and no other', () => {
    const { forbidden } = createRequire(__filename)('../../.dependency-cruiser.cjs') as {
      readonly forbidden: readonly { readonly name: string }[];
    };
    const rules = new Set(forbidden.map(({ name }) => name.replace(/^(infrastructure-layers)-.*/, '$1-*')));
    const [, table = ''] = readPage('CONTRIBUTING.md').text.split('## Dependency rules');
    const listed = [...(table.split('\n## ')[0] ?? '').matchAll(/^\| `([\w*-]+)`/gm)].map(([, name = '']) => name);
    expect(listed.toSorted()).to.deep.equal([...rules].toSorted());
  });

  it('lists every HTTP route, and no other', () => {
    const listed = tableRowsOf(readPage('docs/reference/http.md')).flatMap(([method = '', path = '']) =>
      /^`?(?:GET|POST|DELETE)`?$/.test(method) ? [`${method.replaceAll('`', '')} ${codeIn(path)[0] ?? ''}`] : [],
    );
    // Upgrades to a WebSocket are no routes of the router.
    const defined = OPERATIONS.flatMap(routesOfOperation).map(({ address }) => address);
    expect([...listed, ...defined].toSorted()).to.deep.equal(
      [...routesOf(server.host.api.router), 'GET /v1/responses'].toSorted(),
    );
  });

  it('is generated from the definitions of operations', () => {
    expect(readPage('docs/reference/operations.md').text).to.equal(operationReference(OPERATIONS));
    expect(OPERATION_TABLE).to.deep.equal(dashboardTable(OPERATIONS));
  });

  it('says what every route does with requests of browsers', async () => {
    const reviewed = await startStandalone(ALL_ROUTES);
    try {
      expect(readPage('docs/reference/routes-in-browsers.md').text).to.equal(await routeReview(reviewed));
    } finally {
      await reviewed.close();
    }
  });

  it('lists every method and publication, and no other', () => {
    const listed = tableRowsOf(readPage('docs/reference/methods-and-publications.md')).flatMap(([cell = '']) =>
      codeIn(cell).filter((name) => /^ai\.[a-zA-Z.]+$/.test(name)),
    );
    const published = ['ai', 'providers'].flatMap((module) =>
      [
        ...readFileSync(join(ROOT, `imports/business/${module}/publications.ts`), 'utf8').matchAll(
          /'(ai\.\w+)'(?=: |, async function)/g,
        ),
      ].map(([, name = '']) => name),
    );
    expect(published).to.have.length(6);
    expect([...listed, ...OPERATIONS.map(({ name }) => name)].toSorted()).to.deep.equal(
      [...Object.keys(server.host.operations), ...published, 'ai.changes', 'ai.status'].toSorted(),
    );
  });

  for (const path of ['docs/reference/events.md', 'docs/guides/agentic-loop.md'])
    it(`lists every event of a run with its fields in ${path}, and no other`, () => {
      const listed = tableRowsOf(readPage(path)).flatMap(([names = '', fields = '']) =>
        codeIn(names)
          .filter((name) => /^[a-z]+:\w+$/.test(name))
          .map((name) => [name, codeIn(fields).toSorted()] as const),
      );
      expect(Object.fromEntries(listed)).to.deep.equal(Object.fromEntries(eventFields()));
    });

  it('promises nothing for which there is no test', () => {
    const { text } = readPage('docs/guides/hardening.md');
    const [, promised = ''] = /^## What is promised\n([^]*?)^## /m.exec(text) ?? [];
    const promises = promised.split('\n').filter((line) => line.startsWith('- '));
    expect(promises.length).to.be.above(50);
    const untested = promises.filter((line) => {
      const [, promise = '', path = ''] =
        /^- (.+) \(\[\w+\]\(\.\.\/\.\.\/(tests\/(?:unit|contracts|simulation)\/[\w/.]+)\)\)$/.exec(line) ?? [];
      const titles = path === '' ? [] : testTitles(path);
      return !titles.some((title) => capitalized(title) === promise);
    });
    expect(untested).to.deep.equal([]);
  });

  it('lists every error code with its class, HTTP status and whether it can be retried', () => {
    const listed = tableRowsOf(readPage('docs/reference/errors.md')).flatMap(
      ([code = '', errorClass = '', , http = '', retryable = '']) => {
        const name = codeIn(code)[0] ?? '';
        return /^\d{3}$/.test(http) && /^[a-z-]+$/.test(name)
          ? [[name, { errorClass: codeIn(errorClass)[0], http: Number(http), retryable: retryable.startsWith('yes') }]]
          : [];
      },
    );
    const classes = new Map<string, string>(
      Object.values(LLMErrors)
        .filter((value) => typeof value === 'function' && value.prototype instanceof LLMErrors.LLMError)
        .map((value) => {
          const ErrorClass = value as unknown as new (...args: unknown[]) => LLMErrors.LLMError;
          const details = { reason: '', violations: [], text: '' };
          const error =
            ErrorClass.name === 'ToolError' ? new ErrorClass('threw', '', details) : new ErrorClass('', details);
          return [error.code, ErrorClass.name];
        }),
    );
    expect(Object.fromEntries(listed)).to.deep.equal(
      Object.fromEntries(
        Object.entries(LLMErrors.ERROR_TABLE).map(([code, { http, retryable }]) => [
          code,
          { errorClass: classes.get(code), http, retryable },
        ]),
      ),
    );
  });
});

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** The file in which a reader of the quick start saves a program. */
const READERS_FILE = 'hello.ts';

function sourcesUnder(...folders: readonly string[]): readonly { readonly name: string; readonly text: string }[] {
  return folders.flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /\.tsx?$/.test(entry.name))
      .map(({ parentPath, name }) => ({ name, text: readFileSync(join(parentPath, name), 'utf8') })),
  );
}

/** A guide whose tables name other libraries' code, but for the last column. */
const COMPARISON = 'docs/guides/coming-from.md';

function lastCellsOf(text: string): string {
  return text.replaceAll(/^\|.*\|(.*)\|$/gm, '$1');
}

/** Blocks that are marked as not run, by their reasons. */
const NOT_RUN: Readonly<Record<string, number>> = {
  'needs Docker': 1,
  'needs Meteor': 20,
  'needs a page': 4,
  'needs a public host': 2,
  'needs a vendor key': 1,
  'needs servers': 1,
  'needs the meteor tool': 5,
  'serves until it is stopped': 5,
};
