/**
 * A process that executes queued runs through Agenda and records the effects of its tool. Argument:
 * QueueWorkerOptions as JSON. With `holds`, a call of the tool ends when the parent sends the id of its run; the
 * message `start direct` starts a run that is not queued.
 */
import { MongoClient } from 'mongodb';
import { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../imports/business/ai/application/services/RunQueue';
import { RunRecovery } from '../../imports/business/ai/application/services/RunRecovery';
import { RunSlots } from '../../imports/business/ai/application/services/queue/RunSlots';
import { openAgendaQueue } from '../../imports/business/ai/infrastructure/jobs/AgendaJobQueue';
import { openRunStore } from '../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { callingProvider } from './callingProvider';

export interface QueueWorkerOptions {
  readonly mongoUrl: string;
  readonly concurrency: number;
  readonly holds?: boolean;
}

/** One effect of the tool. The key is the same for every attempt at a call. */
export interface EffectDocument {
  readonly key: string;
  readonly executionId: string;
  readonly pid: number;
}

export const EFFECTS = 'effects';
/**
 * Milliseconds; short, so that tests need not wait long for the runs of a dead process, but long enough for a live one
 * on a busy machine.
 */
export const TIMES = { lease: 6_000, heartbeat: 150, poll: 50, lock: 8_000 };

async function main({ mongoUrl, concurrency, holds = false }: QueueWorkerOptions): Promise<void> {
  const client = await MongoClient.connect(mongoUrl);
  const effects = client.db().collection<EffectDocument>(EFFECTS);
  const tools = new ToolRegistry().register({
    name: 'note',
    // The database recognises the key, so repeated calls are harmless.
    idempotent: true,
    execute: async (_args: unknown, { executionId, idempotencyKey }) => {
      await effects.insertOne({ key: idempotencyKey, executionId, pid: process.pid });
      process.send?.(executionId);
      if (holds) await released(executionId);
      return 'noted';
    },
  });
  const store = await openRunStore(await openMongoDatabase(mongoUrl));
  const leaseTimes = { lease: TIMES.lease, heartbeat: TIMES.heartbeat };
  const loop = new AgenticLoop({ provider: callingProvider('note'), toolExecutor: tools, runStore: store, leaseTimes });
  const jobs = await openAgendaQueue({ url: mongoUrl, concurrency, pollEvery: TIMES.poll, lockLifetime: TIMES.lock });
  const slots = new RunSlots({ loop, tools, limit: concurrency });
  await new RunRecovery({ loop, store, slots, lease: TIMES.lease }).start();
  await new RunQueue({ loop, store, jobs, tools, slots }).start();
  process.on('message', (message) => {
    if (message === 'start direct')
      void loop.start('ann', { executionId: 'direct', model: 'm', input: 'Go.', tools: ['note'] });
  });
  process.send?.('ready');
}

function released(executionId: string): Promise<void> {
  return new Promise((resolve) => {
    const onMessage = (message: unknown): void => {
      if (message !== executionId) return;
      process.off('message', onMessage);
      resolve();
    };
    process.on('message', onMessage);
  });
}

if (require.main === module && process.send !== undefined) {
  process.on('disconnect', () => process.exit(0));
  main(JSON.parse(process.argv[2] ?? '{}') as QueueWorkerOptions).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
}
