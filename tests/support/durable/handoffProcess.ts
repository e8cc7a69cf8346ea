/**
 * A process with agents that hand over to each other, at several vendors, for a test that kills it. Arguments:
 * `HandoffWorld` as JSON, a place of runs, and a lease in milliseconds. On stdin, `run <id>` starts a run in which the
 * process kills itself: its id is `<from>-<to>-<moment>-<side>`, and may end with `-<budget of model calls>`. `go <id>`
 * approves, and lets the late result arrive. It prints the events, and at its start the runs that have not ended.
 */
import { appendFileSync, readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { RunRecovery } from '../../../imports/business/ai/application/services/RunRecovery';
import type { ToolCall } from '../../../imports/business/ai/domain/entities/Tool';
import { isLLMError } from '../../../imports/business/ai/domain/errors/LLMErrors';
import type { RunStore } from '../../../imports/business/ai/domain/interfaces/RunStore';
import type { VendorName } from '../../../imports/business/ai/domain/types/VendorTypes';
import { createAIModule } from '../../../imports/business/ai/infrastructure/factories/createAIModule';
import { openRunStore } from '../../../imports/business/ai/infrastructure/persistence/runs/DocumentRunStore';
import { openDatabase } from '../../../imports/database/openDatabase';
import { agent } from '../../../imports/library/Agent';
import type { Agent } from '../../../imports/library/Agent';
import { handoff } from '../../../imports/library/handoff';
import { tool } from '../../../imports/library/tool';
import { deferred } from '../deferred';
import type { Deferred } from '../deferred';
import { attend, watchCalls } from './Attendant';
import { retryUntilStored } from './persist';

export interface HandoffWorld {
  /** The address of each vendor. */
  readonly vendors: Readonly<Partial<Record<VendorName, string>>>;
  /** A file with a line `tool run:call` per effect. */
  readonly effects: string;
}

/** What a write says of a call, or of the run. */
const IS_TOLD: Readonly<Record<string, (call: ToolCall) => boolean>> = {
  asked: ({ name, state }) => name === 'refund' && state === 'awaiting_approval',
  handed: ({ name, state }) => name.startsWith('hand_over') && state === 'completed',
  approved: ({ name, state }) => name === 'refund' && state === 'executing',
  refunded: ({ name, state }) => name === 'refund' && state === 'completed',
  found: ({ name, state }) => name === 'research' && state === 'completed',
};
export const MOMENTS = [...Object.keys(IS_TOLD), 'ended'];

const MODELS: readonly (readonly [VendorName, string])[] = [
  ['anthropic', 'anthropic/claude-sonnet-4-5'],
  ['openai', 'openai/gpt-5-mini'],
  ['google', 'google/gemini-2.5-flash'],
];

async function main([world = '', place = '', lease = '']: readonly string[]): Promise<void> {
  // Boundary: the parent writes it.
  const { vendors, effects } = JSON.parse(world) as HandoffWorld;
  const database = await openDatabase(place.startsWith('mongodb:') ? { MONGO_URL: place } : { DATA_DIR: place });
  const gates = new Map<string, Deferred<void>>();
  const gateOf = (id: string): Deferred<void> => {
    const gate = gates.get(id) ?? deferred();
    gates.set(id, gate);
    return gate;
  };
  const going = new Set<string>();
  const fatal = new Set<string>();
  const decide = (id: string): void => {
    if (!going.has(id)) return;
    const wasDone = (_id: string, call: ToolCall): boolean =>
      readFileSync(effects, 'utf8').includes(`${call.name} ${id}:${call.id}\n`);
    void retryUntilStored(() => attend(module.loop, runs, id, wasDone)).catch(fail);
  };
  const runs = watchCalls(dying(await openRunStore(database), fatal), decide);
  const leaseTimes = { lease: Number(lease), heartbeat: Number(lease) / 6 };
  const module = createAIModule(
    {
      providers: MODELS.map(([vendor]) => ({
        vendor,
        apiKey: 'k',
        baseURL: vendors[vendor] ?? '',
        allowPrivateHosts: true,
      })),
    },
    { runs, leaseTimes },
  );
  const act = (name: string, key: string): string => {
    appendFileSync(effects, `${name} ${key}\n`);
    // The result of a refund is the same if it is known from a review.
    return name === 'refund' ? 'it was done' : `${name} for ${key}`;
  };
  const refund = tool({
    name: 'refund',
    description: 'Refunds.',
    blocking: false,
    needsApproval: true,
    execute: (_args, { idempotencyKey }) => act('refund', idempotencyKey),
  });
  const research = tool({
    name: 'research',
    description: 'Researches.',
    blocking: false,
    idempotent: true,
    execute: async (_args, { executionId, idempotencyKey }) => {
      await gateOf(executionId).promise;
      return act('research', idempotencyKey);
    },
  });
  const open = tool({
    name: 'open_invoice',
    description: 'Opens an invoice.',
    idempotent: true,
    execute: (_args, { idempotencyKey }) => act('open_invoice', idempotencyKey),
  });
  const agents = new Map<string, Agent>();
  for (const [to, model] of MODELS) {
    const billing = agent({ host: module, model, instructions: 'You are billing.', tools: [open], reasoning: 'high' });
    const over = handoff(billing, { name: `billing_${to}`, when: 'For questions about invoices.' });
    for (const [from, model] of MODELS)
      agents.set(
        `${from}-${to}`,
        agent({
          ...{ host: module, model, instructions: 'You are triage.', userId: 'ann', reasoning: 'low' },
          tools: [refund, research, over],
        }),
      );
  }
  module.loop.on('event', ({ type, executionId }) => print(`e ${type} ${executionId}`));
  // Calls of recovered runs may already wait.
  module.loop.on('run:started', ({ executionId }) => decide(executionId));
  const unfinished = await runs.unfinishedOf('ann', 1_000);
  const { loop } = module;
  const recovery = new RunRecovery({ loop, store: runs, ...leaseTimes, scanIntervalMs: leaseTimes.heartbeat });
  await recovery.start();
  print(['ready', ...unfinished].join(' '));
  for await (const line of createInterface({ input: process.stdin })) {
    const [command, id = ''] = line.split(' ');
    if (command === 'go') {
      going.add(id);
      gateOf(id).resolve();
      decide(id);
      continue;
    }
    fatal.add(id);
    const [from = '', to = '', , , calls] = id.split('-');
    const options = { executionId: id, ...(calls === undefined ? {} : { budget: { calls: Number(calls) } }) };
    agents
      .get(`${from}-${to}`)!
      .generate(`Run ${id}.`, options)
      .catch((error: unknown) => {
        if (!isLLMError(error)) fail(error);
      });
  }
}

/** Kills the process at the writes that the ids of these runs name. */
function dying(store: RunStore, runs: ReadonlySet<string>): RunStore {
  const die = (id: string, side: string, isNow: (moment: string) => boolean): void => {
    const [, , moment = '', at] = id.split('-');
    if (runs.has(id) && at === side && isNow(moment)) process.kill(process.pid, 'SIGKILL');
  };
  const around = async <T>(id: string, isNow: (moment: string) => boolean, write: () => Promise<T>): Promise<T> => {
    die(id, 'before', isNow);
    const written = await write();
    die(id, 'after', isNow);
    return written;
  };
  const isIn =
    (calls: readonly ToolCall[]) =>
    (moment: string): boolean =>
      calls.some((call) => IS_TOLD[moment]?.(call));
  const writes: Pick<RunStore, 'saveRun' | 'saveCalls'> = {
    saveCalls: (lease, calls) => around(lease.executionId, isIn(calls), () => store.saveCalls(lease, calls)),
    saveRun: (lease, change, calls, ...rest) =>
      around(
        lease.executionId,
        (moment) => (moment === 'ended' ? change.endedAt !== undefined : isIn(calls?.changed ?? [])(moment)),
        () => store.saveRun(lease, change, calls, ...rest),
      ),
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === 'saveRun' || name === 'saveCalls') return writes[name];
      const value: unknown = Reflect.get(target, name);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
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

if (require.main === module) main(process.argv.slice(2)).catch(fail);
