/**
 * A process with a queue whose runs start others, for a test that kills it. Arguments: a data directory or the URL of a
 * MongoDB, and a file to which the children's tool appends a line per effect. A line `run <id>` on stdin queues a run,
 * `cancel <id>` cancels one, and `count` asks for the number
 * of those that have not ended.
 */
import { appendFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { RunQueue } from '../../../imports/business/ai/application/services/RunQueue';
import { RunRecovery } from '../../../imports/business/ai/application/services/RunRecovery';
import { RunSlots } from '../../../imports/business/ai/application/services/queue/RunSlots';
import { ConflictError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import { LocalJobQueue } from '../../../imports/business/ai/infrastructure/jobs/LocalJobQueue';
import { openDatabase } from '../../../imports/database/openDatabase';
import { openRunStore } from '../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { runAsTool } from '../../../imports/business/ai/infrastructure/tools/runAsTool';
import { ToolRegistry } from '../../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { delegatingProvider } from '../delegatingProvider';

export const LEASE_MS = 600;
const CONCURRENCY = 2;

async function main([place = '', effects = '']: readonly string[]): Promise<void> {
  const database = await openDatabase(place.startsWith('mongodb:') ? { MONGO_URL: place } : { DATA_DIR: place });
  const store = await openRunStore(database);
  const tools = new ToolRegistry()
    .register({
      name: 'work',
      idempotent: true,
      execute: async (_args: unknown, { executionId, idempotencyKey, signal }) => {
        await delay(30, undefined, { signal });
        appendFileSync(effects, `${idempotencyKey}\n`);
        return `<${executionId}>`;
      },
    })
    .register(runAsTool({ name: 'delegate', run: () => ({ input: 'Work.', tools: ['work'] }) }));
  const provider = delegatingProvider({ delegate: 2, work: 1 });
  const leaseTimes = { lease: LEASE_MS, heartbeat: LEASE_MS / 6 };
  const loop = new AgenticLoop({ provider, toolExecutor: tools, runStore: store, leaseTimes });
  const slots = new RunSlots({ loop, tools, limit: CONCURRENCY });
  const jobs = new LocalJobQueue({ concurrency: CONCURRENCY });
  const queue = new RunQueue({ loop, store, jobs, tools, slots });
  const recovery = new RunRecovery({ loop, store, slots, lease: LEASE_MS, scanIntervalMs: LEASE_MS / 6 });
  loop.on('event', ({ type, executionId }) => process.stdout.write(`${type} ${executionId}\n`));
  await recovery.start();
  await queue.start();
  process.stdout.write('ready\n');
  for await (const line of createInterface({ input: process.stdin })) {
    const [what, executionId = ''] = line.split(' ');
    if (what === 'cancel') await loop.cancel(executionId);
    else if (what === 'count') {
      process.stdout.write(`unfinished ${(await store.unfinishedOf('ann', 1_000)).length}\n`);
      continue;
    } else
      await queue.add('ann', { executionId, model: 'm', input: 'Go.', tools: ['delegate'] }).catch((error: unknown) => {
        // It was queued before, but the process died before it said so.
        if (!(error instanceof ConflictError)) throw error;
      });
    process.stdout.write(`${what === 'cancel' ? 'cancelling' : 'queued'} ${executionId}\n`);
  }
}

if (require.main === module && process.argv[2] !== undefined)
  main(process.argv.slice(2)).catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
