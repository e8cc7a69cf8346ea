/** Measures one contender on one workload in a separate process, and prints the cost as JSON. */
import { FINAL_TEXT } from './responses';
import { MODELS, TOOL, weather } from './Contender';
import type { Contender, CreateContender, Setting } from './Contender';
import { storedHistory } from './histories';
import type { Workload } from './workloads';

export interface Task {
  /** The module that exports `create`. */
  readonly module: string;
  readonly setting: Setting;
  /** Overrides the workload's number. */
  readonly operations?: number;
}

export interface Cost {
  /** CPU microseconds per operation; bytes per idle run. */
  readonly each: number;
  /** Wall-clock milliseconds. */
  readonly elapsed: number;
}

/** @returns undefined if the contender does not take part */
async function measure({ module, setting, operations = setting.workload.operations }: Task): Promise<Cost | undefined> {
  const { workload } = setting;
  const started = performance.now();
  const { create } = (await import(module)) as { create: CreateContender };
  const contender = await create({ ...setting, tool: TOOL, models: MODELS, weather });
  const run = operation(contender, workload);
  if (run === undefined) return undefined;
  if (workload.needs === 'idle')
    return { each: await memoryOf(run, operations, workload.concurrency), elapsed: performance.now() - started };
  if (workload.cold !== true) await repeat(run, workload.warmUp, workload.concurrency);
  // Collects the warm-up's garbage, which must not count.
  globalThis.gc?.();
  const before = workload.cold === true ? undefined : process.cpuUsage();
  const from = performance.now();
  await repeat(run, operations, workload.concurrency);
  const { user, system } = process.cpuUsage(before);
  return { each: (user + system) / operations, elapsed: performance.now() - from };
}

type Operation = (index: number) => Promise<void>;

function operation(contender: Contender, { needs, deltas = 0, calls = 0 }: Workload): Operation | undefined {
  const question = (index: number): string => `How is the weather today? (${index})`;
  const history = needs === 'convert' ? storedHistory(calls) : '';
  switch (needs) {
    case 'ask':
      return contender.ask && (async (index) => expectAnswer(await contender.ask?.(question(index))));
    case 'loop':
      return contender.loop && (async (index) => expectAnswer(await contender.loop?.(question(index))));
    case 'convert':
      return contender.convert && (async () => expectAnswer(await contender.convert?.(history)));
    case 'stream':
    case 'transcode': {
      const run = needs === 'stream' ? contender.stream : contender.transcode;
      return run && (async (index) => expectEnough(await run(question(index)), deltas));
    }
    case 'idle':
      return contender.idle && ((index) => contender.idle?.(`run-${index}`) ?? Promise.resolve());
  }
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
