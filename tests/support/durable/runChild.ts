/**
 * A process that owns runs, for tests that kill it. Its model and the effects of its tools are the parent's; it
 * says on stdout what it is about to do, so that it can be killed anywhere. Lines on stdin: `run <id>` begins one.
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
import { openDatabase } from '../../../imports/business/ai/infrastructure/persistence/databases/openDatabase';
import { CAPABILITIES } from '../capabilities';
import { attend, watchCalls } from './Attendant';
import type { WasDone } from './Attendant';
import { mixedTools, TOOLS } from './mixedTools';
import { persist } from './persist';

async function main([world = '', place = '', lease = '300']: readonly string[]): Promise<void> {
  const database = await openDatabase(place.startsWith('mongodb:') ? { MONGO_URL: place } : { DATA_DIR: place });
  const ask = (path: string, body: unknown): Promise<unknown> => post(`${world}/${path}`, { pid: process.pid, body });
  let look = (_executionId: string): void => undefined;
  const store = saying(watchCalls(await openRunStore(database), (executionId) => look(executionId)));
  const loop = new AgenticLoop({
    provider: {
      getProviderName: () => 'parent',
      getCapabilities: () => CAPABILITIES,
      validateAccess: () => Promise.resolve(true),
      stream: () => {
        throw new Error('not asked for');
      },
      // The parent gives whole responses.
      generate: async (_userId, { input, turn }) =>
        (await ask('model', { run: turn?.executionId, items: input })) as LLMResponse,
    },
    toolExecutor: mixedTools((tool, key, result) => ask('effect', { tool, key, result })),
    runStore: store,
    leaseTimes: { leaseMs: Number(lease), heartbeatMs: Number(lease) / 6 },
    maxIterations: 30,
    // It is the parent that kills its processes, not what the run does.
    maxTakeovers: Infinity,
  });
  look = (executionId) => {
    const wasDone: WasDone = async (id, call) =>
      (await ask('reviewed', { run: id, call: call.id, effect: `${call.name} ${id}:${call.id}` })) === true;
    persist(() => attend(loop, store, executionId, wasDone)).catch(fail);
  };
  loop.on('event', (event) => {
    if (event.type !== 'llm:delta') say(`e ${event.type} ${event.executionId}`);
  });
  // Calls that wait already, of runs that were taken over.
  loop.on('run:started', ({ executionId }) => look(executionId));
  const recovery = new RunRecovery({ loop, store, leaseMs: Number(lease), scanIntervalMs: Number(lease) / 6 });
  await recovery.start();
  say(`ready ${loop.ownerId ?? ''}`);
  for await (const line of createInterface({ input: process.stdin })) {
    const [, id = ''] = line.split(' ');
    await persist(() => begin(loop, id));
  }
}

async function begin(loop: AgenticLoop, executionId: string): Promise<void> {
  try {
    const { done } = await loop.start('ann', { model: 'm', input: 'go', tools: TOOLS, executionId });
    // Its end is in the store.
    done.catch(() => undefined);
  } catch (error) {
    // It had been written, and nobody was told; the watcher goes on with it.
    if (!(error instanceof ConflictError)) throw error;
  }
}

/** A connection for each: one that is kept may be dead when a process that was stopped wakes. */
async function post(url: string, body: unknown): Promise<unknown> {
  const sent = request(url, { method: 'POST', agent: false });
  sent.end(JSON.stringify(body));
  const [answer] = (await once(sent, 'response')) as [IncomingMessage];
  return json(answer);
}

/** Says each write before it is made and after. */
function saying(store: RunStore): RunStore {
  return new Proxy(store, {
    get(target, name, receiver) {
      const value: unknown = Reflect.get(target, name, receiver);
      if (typeof value !== 'function') return value;
      const method = value as (...args: readonly unknown[]) => Promise<unknown>;
      if (!['create', 'claim', 'saveRun', 'addCall', 'saveCall', 'addCommand', 'removeCommand'].includes(String(name)))
        return method.bind(target);
      return async (...args: readonly unknown[]) => {
        say(`> ${String(name)}`);
        const outcome = await method.apply(target, args as unknown[]);
        say(`< ${String(name)}`);
        if (name === 'claim' && outcome !== undefined) say(`claimed ${(args[0] as RunLease).executionId}`);
        return outcome;
      };
    },
  });
}

/** Pipes are written at once on POSIX, so what was said is heard even if the process is killed next. */
function say(line: string): void {
  process.stdout.write(`${line}\n`);
}

function fail(error: unknown): void {
  say(`failed ${error instanceof Error ? (error.stack ?? error.message).replaceAll('\n', ' | ') : String(error)}`);
}

main(process.argv.slice(2)).catch((error: unknown) => {
  fail(error);
  process.exit(1);
});
