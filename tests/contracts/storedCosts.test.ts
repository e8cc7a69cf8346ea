/** What runs cost in the embedded database, in documents, commands and bytes: none grows with what is stored. */
import { expect } from 'chai';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sinon from 'sinon';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { Item, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { openSqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import type { SqliteDatabase } from '../../imports/database/sqlite/SqliteDatabase';
import { SqliteTable } from '../../imports/database/sqlite/SqliteTable';
import { DocumentRunList } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunList';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import type { DocumentRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { RUNS } from '../../imports/business/ai/infrastructure/persistence/runs/runDocuments';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { answer, callItem, response } from '../../imports/testing/responses';
import { explainedQueries } from '../support/explainedQueries';
import { RecordingLogger } from '../support/RecordingLogger';
import { runRequest } from '../support/runRequests';
import { until } from '../support/until';
import { inFlowingTime } from '../support/VirtualTime';

const NEVER_MS = 2 ** 30;

describe(
  'what runs cost in the embedded database',
  inFlowingTime(() => {
    let directory: string;
    let database: SqliteDatabase;
    let store: DocumentRunStore;
    beforeEach(async () => {
      directory = await mkdtemp(join(tmpdir(), 'bolide-costs-'));
      database = await openSqliteDatabase({ directory });
      store = await openRunStore(database);
    });
    afterEach(async () => {
      await database.close();
      await rm(directory, { recursive: true });
    });

    it('is as many bytes in a late turn of a run as in an early one', async () => {
      // Longer transcripts are texts of their own, which are replaced.
      const TURNS = 24;
      const sizes: number[] = [];
      const provider = providerOf(async () => {
        sizes.push(await bytesIn(directory));
        if (sizes.length > TURNS) return answer('done');
        return response({ output: [callItem({ name: 'look', call_id: `c${sizes.length}`, arguments: {} })] });
      });
      const tools = new ToolRegistry().register({ name: 'look', execute: () => 'x'.repeat(50) });
      const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
      const { executionId } = await loop.execute('ann', {
        model: 'm',
        input: 'go',
        tools: ['look'],
        maxIterations: TURNS + 1,
      });
      const written = (from: number, to: number): number => (sizes[to] ?? 0) - (sizes[from] ?? 0);
      expect(written(16, 22) / written(2, 8)).to.be.within(0.8, 1.2);
      // A question, and for each turn a call and its result; then the answer.
      expect((await store.load(executionId))?.run.transcript).to.have.length(2 * TURNS + 2);
      await loop.close();
    });

    it('is no visit of other runs when runs are recovered, queued, counted and listed by user', async () => {
      const list = new DocumentRunList(database);
      await list.ready();
      for (let index = 0; index < 200; index += 1) {
        const lease = await store.create(runRequest(`done-${index}`, { createdAt: index }), 'running', 'me');
        await store.saveRun(lease, { state: 'completed', endedAt: index });
        await store.create(runRequest(`mine-${index}`, { createdAt: index }), 'running', 'me');
        await store.create(runRequest(`queued-${index}`, { createdAt: index }), 'queued', '');
      }
      await store.create(runRequest('orphan', { createdAt: 1_000 }), 'running', 'gone');
      await store.create(runRequest('bobs', { userId: 'bob' }), 'running', 'me');
      const read = async (work: () => Promise<unknown>): Promise<number> => {
        const reads = sinon.spy(SqliteTable.prototype, 'read');
        try {
          for (const step of await explainedQueries(work))
            expect(step).to.match(/^(?:SEARCH|SCAN json_each|LIST SUBQUERY|MULTI-INDEX OR|INDEX \d|USE TEMP)/);
          return reads.callCount;
        } finally {
          reads.restore();
        }
      };
      expect(await read(() => store.leased(1_000, ['me']))).to.equal(1);
      expect(await read(() => store.queued(10))).to.equal(10);
      expect(await read(() => store.unfinishedOf('bob', 10))).to.be.at.most(1);
      expect(await read(() => store.unfinishedOf('ann', 10))).to.be.at.most(10);
      expect(await read(() => database.collection(RUNS).count({ userId: 'ann', state: 'completed' }))).to.equal(0);
      expect(
        await read(() =>
          list.page({ userId: 'ann', states: ['completed', 'queued'] }, { sort: 'createdAt', order: 'desc', limit: 5 }),
        ),
      ).to.equal(6);
    });

    it('is a few commands for many runs that are recovered to wait again, without a pause between them', async () => {
      const RUNS_LEFT = 150;
      const tools = new ToolRegistry().register({ name: 'wait', kind: 'external', blocking: false, timeout: NEVER_MS });
      const provider = providerOf((items) =>
        Promise.resolve(
          items.some(({ type }) => type === 'function_call')
            ? answer('I wait.')
            : response({ output: [callItem({ name: 'wait' })] }),
        ),
      );
      const lost = new AgenticLoop({ provider, toolExecutor: tools, runStore: store });
      await Promise.all(
        Array.from({ length: RUNS_LEFT }, () =>
          lost.execute('ann', { model: 'm', input: 'go', tools: ['wait'], onPending: 'return' }),
        ),
      );
      await lost.close();

      const commands: string[] = [];
      const owners: (readonly string[])[] = [];
      const counted = new Proxy<RunStore>(store, {
        get: (target, name, receiver) => {
          const value: unknown = Reflect.get(target, name, receiver);
          if (typeof value !== 'function') return value;
          return (...args: unknown[]): unknown => {
            commands.push(String(name));
            if (name === 'leased') owners.push((args[1] ?? []) as readonly string[]);
            return (value as (...given: unknown[]) => unknown).apply(target, args);
          };
        },
      });
      const logger = new RecordingLogger();
      const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: counted, logger });
      const recovery = new RunRecovery({ loop, store: counted, scanIntervalMs: NEVER_MS, logger });
      await recovery.start();
      // The next scan follows when the runs of the one before wait, not after the interval.
      await until(() => loop.local.size === RUNS_LEFT);
      const countOf = (command: string): number => commands.filter((name) => name === command).length;
      await until(() => countOf('leased') === 2 && countOf('clearTakeovers') === 2);
      // Runs that this process has and executes are not read again.
      expect(owners.at(-1)).to.deep.equal([loop.claims.ownerId]);
      recovery.stop();
      await loop.close();
      // What each of them is, the store has already.
      const perRun = commands.filter((name) => ['claim', 'load', 'saveRun', 'saveCalls'].includes(name));
      expect(perRun).to.deep.equal([]);
      expect(countOf('claimOrphans')).to.equal(2);
      expect(logger.errors).to.deep.equal([]);
    });
  }),
);

async function bytesIn(directory: string): Promise<number> {
  let bytes = 0;
  for (const entry of await readdir(directory, { recursive: true })) bytes += (await stat(join(directory, entry))).size;
  return bytes;
}

function providerOf(respond: (items: readonly Item[]) => Promise<LLMResponse>): ILLMProvider {
  return {
    getProviderName: () => 'scripted',
    getCapabilities: () => CAPABILITIES,
    validateAccess: () => Promise.resolve({ valid: true }),
    stream: () => {
      throw new Error('Streaming is not expected here.');
    },
    // The loop passes the items of the conversation.
    generate: (_userId, { input }) => respond(input as readonly Item[]),
  };
}
