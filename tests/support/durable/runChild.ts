/**
 * A process that executes runs, for tests that kill it. The parent provides its model and the effects of its tools. It
 * prints to stdout what it is about to do, so that it can be killed at any point. The line `run <id>` on stdin starts a
 * run. Runs whose ids begin with "poison" kill the process.
 */
import { once } from 'node:events';
import { request } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createInterface } from 'node:readline';
import { json } from 'node:stream/consumers';
import { AgenticLoop } from '../../../imports/business/ai/application/services/AgenticLoop';
import { RunRecovery } from '../../../imports/business/ai/application/services/RunRecovery';
import { ConflictError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';
import type { RunLease } from '../../../imports/business/ai/domain/types/RunRecords';
import type { LLMResponse } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { openRunStore } from '../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { openDatabase } from '../../../imports/database/openDatabase';
import { CAPABILITIES } from '../../../imports/testing/capabilities';
import { attend, watchCalls } from './Attendant';
import type { HadEffect } from './Attendant';
import { mixedTools, TOOLS } from './mixedTools';
import { retryUntilStored } from './persist';

async function main([world = '', place = '', lease = '300']: readonly string[]): Promise<void> {
  const database = await openDatabase(place.startsWith('mongodb:') ? { MONGO_URL: place } : { DATA_DIR: place });
  const ask = (path: string, body: unknown): Promise<unknown> => post(`${world}/${path}`, { pid: process.pid, body });
  let attendRun = (_executionId: string): void => undefined;
  const store = printWrites(watchCalls(await openRunStore(database), (executionId) => attendRun(executionId)));
  const loop = new AgenticLoop({
    provider: {
      getProviderName: () => 'parent',
      getCapabilities: () => CAPABILITIES,
      validateAccess: () => Promise.resolve({ valid: true }),
      stream: () => {
        throw new Error('Streaming is not expected here.');
      },
      // The parent returns complete responses.
      generate: async (_userId, { input, turn }) => {
        if (turn?.executionId.startsWith('poison') === true) process.kill(process.pid, 'SIGKILL');
        return (await ask('model', { run: turn?.executionId, items: input })) as LLMResponse;
      },
    },
    toolExecutor: mixedTools((tool, key, result) => ask('effect', { tool, key, result })),
    runStore: store,
    leaseTimes: { lease: Number(lease), heartbeat: Number(lease) / 6 },
    maxIterations: 30,
  });
  attendRun = (executionId) => {
    const wasDone: HadEffect = async (id, call) =>
      (await ask('reviewed', { run: id, call: call.id, effect: `${call.name} ${id}:${call.id}` })) === true;
    retryUntilStored(() => attend(loop, store, executionId, wasDone)).catch(fail);
  };
  loop.on('event', (event) => {
    if (event.type !== 'llm:delta') print(`e ${event.type} ${event.executionId}`);
  });
  // Calls of recovered runs may already wait.
  loop.on('run:started', ({ executionId }) => attendRun(executionId));
  const recovery = new RunRecovery({ loop, store, lease: Number(lease), scanIntervalMs: Number(lease) / 6 });
  await recovery.start();
  print(`ready ${loop.claims.ownerId ?? ''}`);
  for await (const line of createInterface({ input: process.stdin })) {
    const [, id = ''] = line.split(' ');
    await retryUntilStored(() => startRun(loop, id));
  }
}

async function startRun(loop: AgenticLoop, executionId: string): Promise<void> {
  try {
    const { done } = await loop.start('ann', { model: 'm', input: 'go', tools: TOOLS, executionId });
    // The run's end is in the store.
    done.catch(() => undefined);
  } catch (error) {
    // It was recorded before, but the request failed; the recovery continues it.
    if (!(error instanceof ConflictError)) throw error;
  }
}

/** Uses a new connection each time: a pooled one may be dead when a suspended process resumes. */
async function post(url: string, body: unknown): Promise<unknown> {
  const sent = request(url, { method: 'POST', agent: false });
  sent.end(JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return json(answer);
}

/** Prints every write before and after it is made. */
function printWrites(store: RunStore): RunStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      const method = value as (...args: readonly unknown[]) => Promise<unknown>;
      if (
        !['create', 'claim', 'claimOrphans', 'saveRun', 'saveCalls', 'addCommand', 'removeCommand'].includes(
          String(name),
        )
      )
        return method.bind(target);
      return async (...args: readonly unknown[]) => {
        print(`> ${String(name)}`);
        const outcome = await method.apply(target, args as unknown[]);
        print(`< ${String(name)}`);
        if (name === 'claim' && outcome !== undefined) print(`claimed ${(args[0] as RunLease).executionId}`);
        if (name === 'claimOrphans')
          for (const executionId of (outcome as ReadonlyMap<string, unknown>).keys()) print(`claimed ${executionId}`);
        return outcome;
      };
    },
  });
}

/** On POSIX, pipes are written synchronously, so the line arrives even if the process is killed next. */
function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(error: unknown): void {
  print(`failed ${error instanceof Error ? (error.stack ?? error.message).replaceAll('\n', ' | ') : String(error)}`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  fail(error);
  process.exit(1);
});
