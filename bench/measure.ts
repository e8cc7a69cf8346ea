/** Measures one contender on one workload in a separate process, and prints the cost as JSON. */
import { createRequire } from 'node:module';
import { FINAL_TEXT } from './responses';
import { MODELS, TOOL, weather } from './Contender';
import type { Contender, CreateContender, Setting } from './Contender';
import type { HistoryItem } from './histories';
import { TurnClock } from './TurnClock';
import { workload as workloadOf } from './workloads';
import type { Workload } from './workloads';

export interface Task {
  /** The module that exports `create`. */
  readonly module: string;
  readonly wire: Setting['wire'];
  readonly baseURL: string;
  readonly workloadId: string;
  /** Overrides the workload's number. */
  readonly operations?: number;
}

export interface Cost {
  /** CPU microseconds per operation; bytes per idle run. */
  readonly each: number;
  /** Wall-clock milliseconds. */
  readonly elapsed: number;
  /** For a workload with marks: CPU microseconds per turn at each of them. */
  readonly marks?: readonly number[];
}

/** @returns undefined if the contender does not take part */
async function measure({ module, wire, baseURL, workloadId, ...task }: Task): Promise<Cost | undefined> {
  const workload = workloadOf(workloadId);
  const { warmUp } = workload;
  const operations = task.operations ?? workload.operations;
  const started = performance.now();
  const clock = new TurnClock(workload.marks ?? []);
  // Under tsx, sources are CommonJS, whose exports `import` does not name.
  const { create } = (module.endsWith('.ts') ? createRequire(__filename)(module) : await import(module)) as {
    create: CreateContender;
  };
  const contender = await create({
    wire,
    baseURL,
    workload,
    tool: TOOL,
    models: MODELS,
    weather: workload.marks === undefined ? weather : clock.counting(weather),
  });
  const run = operation(contender, workload, warmUp + operations, clock);
  if (run === undefined) return undefined;
  if (workload.needs === 'idle')
    return { each: await memoryOf(run, operations, workload.concurrency), elapsed: performance.now() - started };
  if (workload.cold !== true) await repeat(run, warmUp, workload.concurrency);
  // Collects the warm-up's garbage, which must not count.
  globalThis.gc?.();
  clock.reset();
  const before = workload.cold === true ? undefined : process.cpuUsage();
  const from = performance.now();
  await repeat(run, operations, workload.concurrency);
  const { user, system } = process.cpuUsage(before);
  return {
    each: (user + system) / operations,
    elapsed: performance.now() - from,
    ...(workload.marks === undefined ? {} : { marks: clock.costs() }),
  };
}

type Operation = (index: number) => Promise<void>;

/** @param times how often the operation will run */
function operation(
  contender: Contender,
  { needs, deltas = 0, history }: Workload,
  times: number,
  clock: TurnClock,
): Operation | undefined {
  const question = (index: number): string => `How is the weather today? (${index})`;
  switch (needs) {
    case 'ask':
      return contender.ask && (async (index) => expectAnswer(await contender.ask?.(question(index))));
    case 'loop':
      return (
        contender.loop &&
        (async (index) => {
          clock.start();
          expectAnswer(await contender.loop?.(question(index)));
        })
      );
    case 'send':
      return contender.send && sending(contender.send, histories(history, times));
    case 'resend':
      return (
        contender.resend && sending(contender.resend.send, histories(history, times).map(contender.resend.prepare))
      );
    case 'stream':
    case 'transcode': {
      const run = needs === 'stream' ? contender.stream : contender.transcode;
      return run && (async (index) => expectEnough(await run(question(index)), deltas));
    }
    case 'idle':
      return contender.idle && ((index) => contender.idle?.(`run-${index}`) ?? Promise.resolve());
  }
}

/** New objects for every operation, parsed before the measurement. */
function histories(history: Workload['history'], times: number): readonly (readonly HistoryItem[])[] {
  const json = history?.() ?? '[]';
  return Array.from({ length: times }, () => JSON.parse(json) as HistoryItem[]);
}

function sending(
  send: (history: readonly HistoryItem[]) => Promise<string>,
  prepared: readonly (readonly HistoryItem[])[],
): Operation {
  let next = 0;
  return async () => {
    const history = prepared[next] ?? [];
    next += 1;
    expectAnswer(await send(history));
  };
}

/** Guards against contenders that are fast because they skip the work. */
function expectAnswer(text: string | undefined): void {
  if (text !== FINAL_TEXT) throw new Error(`Unexpected response: ${JSON.stringify(text)}`);
}

function expectEnough(characters: number, deltas: number): void {
  if (characters < deltas * 3) throw new Error(`Only ${characters} characters arrived from ${deltas} deltas.`);
}

async function repeat(run: Operation, times: number, concurrency: number): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < times) {
      next += 1;
      await run(next);
    }
  };
  await Promise.all(Array.from({ length: Math.min(concurrency, times) }, worker));
}

/** A tenth of the runs start before the first measurement, so that memory that all runs share is not counted. */
async function memoryOf(run: Operation, count: number, concurrency: number): Promise<number> {
  const shared = Math.round(count / 10);
  await repeat((index) => run(-index), shared, concurrency);
  const before = used();
  await repeat(run, count, concurrency);
  return (used() - before) / count;
}

function used(): number {
  globalThis.gc?.();
  globalThis.gc?.();
  const { heapUsed, external, arrayBuffers } = process.memoryUsage();
  return heapUsed + external + arrayBuffers;
}

measure(JSON.parse(process.argv[2] ?? '') as Task)
  .then((cost) => {
    process.stdout.write(JSON.stringify(cost ?? null));
    process.exit();
  })
  .catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
