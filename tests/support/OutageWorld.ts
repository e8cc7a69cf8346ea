/**
 * Two workers on one MongoDB, each with connections of its own through one proxy, and runs that an outage meets in any
 * state: between two steps, in a model call, in a tool that may not run twice, waiting for a person, and queued.
 */
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import type { LeaseTimes } from '../../imports/business/ai/application/services/runs/durable/LeaseHeartbeat';
import { withoutOutages } from '../../imports/log/withoutOutages';
import type { ILLMProvider } from '../../imports/business/ai/domain/interfaces/ILLMProvider';
import type { RunStore } from '../../imports/business/ai/domain/interfaces/RunStore';
import type { GenerateOptions } from '../../imports/business/ai/domain/types/LLMTypes';
import { openAgendaQueue } from '../../imports/business/ai/infrastructure/jobs/AgendaJobQueue';
import type { AgendaJobQueue } from '../../imports/business/ai/infrastructure/jobs/AgendaJobQueue';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import type { MongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import type { StoreCircuitTimes } from '../../imports/database/StoreCircuit';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { CAPABILITIES } from '../../imports/testing/capabilities';
import { answer, calling, eventsOf } from '../../imports/testing/responses';
import { deferred } from './deferred';
import { RecordingLogger } from './RecordingLogger';
import { startTestMongo } from './startTestMongo';
import type { TestMongo } from './startTestMongo';
import { StoreProxy } from './StoreProxy';
import { until } from './until';

/** Milliseconds. */
export interface OutageTimes {
  readonly lease: LeaseTimes;
  readonly circuit: Partial<StoreCircuitTimes>;
  readonly jobs: { readonly pollEvery: number; readonly lockLifetime: number; readonly retryDelay: number };
}

/** What an outage meets. `steps` and `queued` call a tool again and again until the outage is over. */
const KINDS = ['steps', 'model', 'tool', 'person'] as const;
type Kind = (typeof KINDS)[number] | 'queued';

export interface Worker {
  readonly database: MongoDatabase;
  readonly store: RunStore;
  readonly loop: AgenticLoop;
  readonly recovery: RunRecovery;
  readonly queue: RunQueue;
  readonly jobs: AgendaJobQueue;
  readonly logger: RecordingLogger;
}

export class OutageWorld {
  readonly workers: Worker[] = [];
  readonly ids: string[] = [];
  /** Calls that wait for a person although no process died. */
  readonly reviews: string[] = [];
  /** Idempotency keys of the executions of tools. */
  readonly effects: string[] = [];
  readonly mongo: TestMongo;
  readonly proxy: StoreProxy;
  private readonly times: OutageTimes;
  private readonly over = deferred();
  private isOver = false;
  private started = 0;

  private constructor(mongo: TestMongo, proxy: StoreProxy, times: OutageTimes) {
    this.mongo = mongo;
    this.proxy = proxy;
    this.times = times;
  }

  static async open(times: OutageTimes): Promise<OutageWorld> {
    const mongo = await startTestMongo();
    const world = new OutageWorld(mongo, await StoreProxy.start(mongo.url), times);
    for (let index = 0; index < 2; index += 1) world.workers.push(await world.openWorker());
    return world;
  }

  /** Starts runs of every kind in each worker, and resolves when the outage may begin. */
  async startRuns(): Promise<void> {
    for (const [index, { loop, queue }] of this.workers.entries()) {
      for (const kind of KINDS) void this.execute(loop, `${kind}-${index}`, kind);
      const executionId = `queued-${index}`;
      this.ids.push(executionId);
      await queue.add('ann', { executionId, model: 'm', input: 'queued', tools: ['step'], maxIterations: 100_000 });
    }
    await until(() => this.started >= this.workers.length * 2 && this.effects.length > this.workers.length * 4);
    await until(async () => {
      const stored = await Promise.all(this.workers.map(({ store }, index) => store.load(`person-${index}`)));
      return stored.every((run) => run?.calls.some(({ state }) => state === 'awaiting_approval') === true);
    });
  }

  /** What the runs wait for, other than the database, happens. */
  finish(): void {
    this.isOver = true;
    this.over.resolve();
  }

  /** Resolves when all runs have ended. @returns their states */
  async ended(): Promise<readonly string[]> {
    const [worker] = this.workers;
    if (worker === undefined) throw new Error('there is no worker');
    const pending = new Set(this.ids);
    const states: string[] = [];
    const look = until(async () => {
      if (this.reviews.length > 0) throw new Error(`a person was asked about ${this.reviews.join(', ')}`);
      for (const id of pending) {
        const stored = await worker.store.load(id).catch(() => undefined);
        const { state } = stored?.run ?? {};
        if (state === 'completed' || state === 'failed' || state === 'cancelled') {
          states.push(`${id}: ${state}`);
          pending.delete(id);
        }
        const open = stored?.calls.find((call) => call.state === 'awaiting_approval');
        if (open !== undefined) await worker.loop.approve(id, open.id).catch(() => undefined);
      }
      return pending.size === 0;
    });
    await look.catch(async (error: unknown) => {
      throw new Error(`These runs have not ended: ${await this.describe([...pending]).catch(String)}`, {
        cause: error,
      });
    });
    return states;
  }

  /** Who has these runs, since when, and what the workers have logged. */
  private async describe(ids: readonly string[]): Promise<string> {
    const leases = (await this.workers[0]?.store.leased(1_000, [])) ?? [];
    const logs = this.workers.map(({ loop, logger, database }) => ({
      owner: loop.claims.ownerId,
      outage: database.outage,
      lines: [...logger.errors, ...logger.warnings],
    }));
    return JSON.stringify({ leases: leases.filter(({ executionId }) => ids.includes(executionId)), logs }, null, 2);
  }

  async close(): Promise<void> {
    for (const { recovery, queue, loop, database } of this.workers) {
      recovery.stop();
      await queue.stop();
      await loop.close();
      await database.close();
    }
    await this.proxy.stop();
    await this.mongo.stop();
  }

  private async execute(loop: AgenticLoop, executionId: string, kind: Kind): Promise<void> {
    this.ids.push(executionId);
    const tools = ['step', 'slow', 'asked'];
    // What became of it is read from the store.
    await loop
      .execute('ann', { executionId, model: 'm', input: kind, tools, maxIterations: 100_000 })
      .catch(() => undefined);
  }

  private async openWorker(): Promise<Worker> {
    const logger = new RecordingLogger();
    const quiet = withoutOutages(logger);
    const { lease, circuit, jobs: jobTimes } = this.times;
    const database = await openMongoDatabase(this.proxy.url, { times: circuit, logger });
    const store = await openRunStore(database);
    const tools = this.tools();
    const loop = new AgenticLoop({
      provider: this.provider(),
      toolExecutor: tools,
      runStore: store,
      leaseTimes: lease,
      logger: quiet,
    });
    loop.on('tool:needs_review', ({ executionId }) => this.reviews.push(executionId));
    const jobs = await openAgendaQueue({ url: this.proxy.url, concurrency: 4, ...jobTimes, logger: quiet });
    const recovery = new RunRecovery({ loop, store, lease: lease.lease, logger: quiet });
    const queue = new RunQueue({ loop, store, jobs, tools, logger: quiet });
    await recovery.start();
    await queue.start();
    return { database, store, loop, recovery, queue, jobs, logger };
  }

  private tools(): ToolRegistry {
    const register = (
      name: string,
      execute: () => unknown,
      needsApproval = false,
    ): Parameters<ToolRegistry['register']>[0] => ({
      name,
      needsApproval,
      timeout: 3_600_000,
      execute: async (_args: unknown, { idempotencyKey }) => {
        this.effects.push(idempotencyKey);
        return execute();
      },
    });
    return new ToolRegistry()
      .register(register('step', () => new Promise((resolve) => setTimeout(resolve, 20, 'stepped'))))
      .register(
        register('slow', async () => {
          this.started += 1;
          await this.over.promise;
          return 'done';
        }),
      )
      .register(register('asked', () => 'done', true));
  }

  private provider(): ILLMProvider {
    const respond = async ({ input }: GenerateOptions): Promise<ReturnType<typeof answer>> => {
      const items = typeof input === 'string' ? [] : input;
      const kind = JSON.stringify(items[0]);
      const isFirst = !items.some(
        (item) => typeof item === 'object' && 'type' in item && item.type === 'function_call_output',
      );
      if (kind.includes('model')) {
        this.started += 1;
        await this.over.promise;
        return answer('Done.');
      }
      if (kind.includes('tool')) return isFirst ? calling({ name: 'slow' }) : answer('Done.');
      if (kind.includes('person')) return isFirst ? calling({ name: 'asked' }) : answer('Done.');
      return this.isOver ? answer('Done.') : calling({ name: 'step' });
    };
    return {
      getProviderName: () => 'scripted',
      generate: (_userId, options) => respond(options),
      async *stream(_userId, options) {
        yield* eventsOf(await respond(options));
      },
      validateAccess: () => Promise.resolve({ valid: true }),
      getCapabilities: () => CAPABILITIES,
    };
  }
}
