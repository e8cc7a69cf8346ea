/** Measures one contender on one workload in a separate process, and prints the cost as JSON. */
import { createRequire } from 'node:module';
import { MODELS, TOOL, weather } from './Contender';
import type { CreateContender, Setting } from './Contender';
import { operationOf, repeat } from './operations';
import type { Operation } from './operations';
import { TurnClock } from './TurnClock';
import { workload as workloadOf } from './workloads';

export interface Task {
  /** The module that exports `create`. */
  readonly module: string;
  readonly wire: Setting['wire'];
  readonly baseURL: string;
  readonly workloadId: string;
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
async function measure({ module, wire, baseURL, workloadId }: Task): Promise<Cost | undefined> {
  const workload = workloadOf(workloadId);
  const { warmUp, operations } = workload;
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
  const run = operationOf(contender, workload, warmUp + operations, clock);
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
