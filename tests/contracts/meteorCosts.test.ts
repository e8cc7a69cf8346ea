/**
 * What the app costs under Meteor: observers that can follow the oplog and whose queries have indexes, and upper bounds
 * for observers per page and writes per run. docs/guides/meteor-scaling.md has the same numbers.
 */
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import type { MemoryCollection } from '../stubs/server/MemoryCollection';
import { openObservers } from '../stubs/server/observers';
import type { OpenObserver } from '../stubs/server/observers';
import { registry } from '../stubs/server/registry';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp } from '../support/meteorApp';
import { until } from '../support/until';
import { TOPICS } from '../../imports/business/ai/domain/types/Topics';
import { countObservers, countRun, PAGES } from '../support/meteorCosts';
import type { ObserverCost, PageName, RunCost, RunName } from '../support/meteorCosts';
import { itInSoak } from '../support/soak';
import { inFlowingTime } from '../support/VirtualTime';

/** Every combination of filters that the publications accept. */
const SUBSCRIPTIONS: readonly (readonly [name: string, argument?: object])[] = [
  ...[{}, { state: 'completed' }, { since: 0 }, { state: 'completed', since: 0 }].map(
    (filter) => ['ai.runs', filter] as const,
  ),
  ['ai.run', { executionId: 'EXECUTION' }],
  ...[
    {},
    { state: 'completed' },
    { executionId: 'EXECUTION' },
    { state: 'completed', executionId: 'EXECUTION' },
    { summary: true },
  ].map((filter) => ['ai.toolCalls', filter] as const),
  ['ai.stats'],
  ['ai.memory'],
  ['ai.providers'],
  ...TOPICS.map((topic) => ['ai.changes', { topic }] as const),
];

const OBSERVERS: Readonly<Record<PageName, ObserverCost>> = {
  overview: { admin: 7, secondAdmin: 0, user: 7 },
  runs: { admin: 6, secondAdmin: 0, user: 6 },
  run: { admin: 10, secondAdmin: 0, user: 7 },
  tools: { admin: 6, secondAdmin: 0, user: 6 },
  providers: { admin: 7, secondAdmin: 0, user: 7 },
};

/** Upper bounds. Adjacent changes are sometimes written together, so a run may need fewer. */
const WRITES: Readonly<Record<RunName, Readonly<Record<string, number>>>> = {
  'plain answer': { ai_runs: 5, ai_stats: 3, ai_rate_windows: 3, ai_deltas: 2, ai_budgets: 1 },
  'one tool call': { ai_runs: 8, ai_tool_calls: 3, ai_stats: 3, ai_rate_windows: 3, ai_deltas: 2, ai_budgets: 2 },
  'five turns of four calls': {
    ai_runs: 20,
    ai_tool_calls: 60,
    ai_stats: 3,
    ai_rate_windows: 3,
    ai_deltas: 6,
    ai_budgets: 6,
  },
  '2,000 deltas': { ai_runs: 5, ai_stats: 3, ai_rate_windows: 3, ai_budgets: 1 },
};

/** Live text is written at most this often, whatever the model's speed; see RunEventBus. */
const LIVE_TEXT_MS = 150;
/** Heartbeats while a run lasts. */
const HEARTBEAT_MS = 1_000;

describe(
  'The costs under Meteor',
  inFlowingTime(() => {
    let app: MeteorApp;
    let ofProcess: readonly unknown[];
    before(async () => {
      app = await startMeteorApp();
      ofProcess = observed().map(([{ name }, { selector }]) => [name, selector]);
    });
    after(() => app.stop());

    const observed = (): readonly (readonly [MemoryCollection, OpenObserver])[] =>
      [...registry.collections.values()].flatMap((each) =>
        openObservers(each).map((observer) => [each, observer] as const),
      );

    it('contain no query that Meteor would poll although it has an oplog, and none without an index', async () => {
      const { executionId } = (await app.call('bob', 'ai.runs.start', {
        requestId: 'index',
        providerId: 'shared',
        input: 'Hello',
      })) as { executionId: string };
      let count = 0;
      for (const person of ['ann', 'bob'] as const)
        for (const [name, argument] of SUBSCRIPTIONS) {
          const before = new Set(observed().map(([, observer]) => observer));
          const client = app.client(person);
          const named = argument !== undefined && 'executionId' in argument ? { ...argument, executionId } : argument;
          await client.subscribe(name, ...(named === undefined ? [] : [named])).ready;
          for (const [collection, observer] of observed()) {
            if (before.has(observer)) continue;
            const label = `${person} ${name} ${JSON.stringify(argument)}: ${collection.name}`;
            expect(oplogObstacle(observer), label).to.equal(undefined);
            expect(isIndexed(collection, observer), `${label} ${JSON.stringify(observer.spec.sort)}`).to.equal(true);
            count += 1;
          }
          client.close();
          await until(() => observed().length === ofProcess.length);
        }
      expect(count).to.be.greaterThan(20);
    });

    it('contain two observers per process, neither of which follows all users’ credentials', () => {
      expect(ofProcess).to.deep.equal([
        ['ai_providers', {}],
        ['ai_changes', { _id: 'credentials' }],
      ]);
    });

    it('are as many observers per page as documented', async () => {
      expect(await countObservers(app)).to.deep.equal(OBSERVERS);
    });

    for (const name of Object.keys(WRITES) as RunName[]) {
      itInSoak(`are a bounded number of writes for ${name}`, async () => {
        const cost = await countRun(app, name);
        const limits: Readonly<Record<string, number>> = {
          ai_deltas: Math.ceil(cost.milliseconds / LIVE_TEXT_MS) + 1,
          // One for each model call, as far as it is written before the run has ended.
          ai_requests: 6,
          // When other processes must know how much the user does, and at most once in a second otherwise.
          ai_user_loads: 2 + Math.ceil(cost.milliseconds / 1_000),
          ai_run_owners: 2 + 2 * Math.ceil(cost.milliseconds / HEARTBEAT_MS),
          ...WRITES[name],
        };
        for (const [collection, writes] of Object.entries(cost.writes))
          expect(writes, collection).to.be.at.most(limits[collection] ?? 0);
        expect(cost.liveTexts.removed, 'removed live texts').to.equal(0);
        expect(cost.messages, 'DDP messages').to.be.at.most(publishedWrites(cost) + cost.liveTexts.added + 2);
      });
    }

    it('are documented', () => {
      const page = readFileSync('docs/guides/meteor-scaling.md', 'utf8');
      const rows = new Map(
        page
          .split('\n')
          .filter((line) => line.startsWith('| '))
          .map((line) => line.split('|').map((cell) => cell.trim()))
          .map(([, first = '', ...cells]) => [first, cells] as const),
      );
      for (const [name, { admin, secondAdmin, user }] of Object.entries(OBSERVERS))
        expect(rows.get(name)?.slice(0, 3), name).to.deep.equal([admin, secondAdmin, user].map(String));
      for (const [name, { ai_runs, ai_tool_calls = 0, ai_stats }] of Object.entries(WRITES))
        expect(rows.get(name)?.slice(0, 3), name).to.deep.equal([ai_runs, ai_tool_calls, ai_stats].map(String));
      expect(Object.keys(PAGES)).to.deep.equal(Object.keys(OBSERVERS));
    });
  }),
);

function publishedWrites({ writes }: RunCost): number {
  return (writes['ai_runs'] ?? 0) + (writes['ai_tool_calls'] ?? 0);
}

/**
 * What prevents Meteor's OplogObserveDriver from following the query (`cursorSupported`), or makes it fetch documents
 * for most changes.
 */
function oplogObstacle({ selector, spec }: OpenObserver): string | undefined {
  if (spec.skip !== undefined) return 'skip';
  if (spec.limit !== undefined && spec.sort === undefined) return 'a limit without a sort';
  const paths = Object.keys(spec.projection ?? {});
  if (paths.length === 0) return 'no projection';
  const colliding = paths.find((path) => paths.some((other) => other.startsWith(`${path}.`)));
  if (colliding !== undefined) return `the projection ${colliding} and its parts`;
  const invalid = paths.find((path) => path.includes('$') || spec.projection?.[path] !== 1);
  if (invalid !== undefined) return `the projection ${invalid}`;
  for (const [field, condition] of Object.entries(selector)) {
    if (field.startsWith('$')) return `the operator ${field}`;
    const operators = isRange(condition) ? Object.keys(condition) : [];
    const unknown = operators.find((operator) => !['$gt', '$gte', '$lt', '$lte'].includes(operator));
    if (unknown !== undefined) return `the operator ${unknown}`;
  }
  return undefined;
}

/** Whether an index begins with the fields of equality and continues with the order. */
function isIndexed({ indexed }: MemoryCollection, { selector, spec }: OpenObserver): boolean {
  const equal = Object.keys(selector).filter((field) => !isRange(selector[field]));
  if (equal.includes('_id')) return true;
  const sort = Object.entries(spec.sort ?? {});
  return indexed.some((keys) => {
    const columns = Object.entries(keys);
    // What follows the order is only read from the index.
    return columns.some((_, at) => {
      const prefix = columns.slice(0, at).map(([field]) => field);
      const isOrdered = [1, -1].some((sign) =>
        sort.every(([field, direction], place) => {
          const [column, order] = columns[at + place] ?? [];
          return field === column && direction * sign === order;
        }),
      );
      // The calls of one run are few, so that further conditions on them need no index.
      const isCovered = prefix.includes('executionId')
        ? prefix.every((field) => equal.includes(field))
        : prefix.length === equal.length && prefix.every((field) => equal.includes(field));
      return isOrdered && isCovered;
    });
  });
}

function isRange(condition: unknown): condition is object {
  return typeof condition === 'object' && condition !== null;
}
