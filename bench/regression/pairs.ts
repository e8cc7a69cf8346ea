/**
 * Measures two checkouts in one process: slices of a few operations take turns, so that both meet the same load of the
 * machine. Prints the ratio of each pair of slices, as JSON.
 */
import { MODELS, TOOL, weather } from '../Contender';
import type { CreateContender, Setting } from '../Contender';
import { operationOf, repeat } from '../operations';
import type { Operation } from '../operations';
import { workload as workloadOf } from '../workloads';

export interface PairTask {
  /** The modules of this checkout and of the base. */
  readonly own: string;
  readonly base: string;
  /** Loads and compiles the base's first. */
  readonly isBaseFirst: boolean;
  readonly wire: Setting['wire'];
  readonly baseURL: string;
  readonly workloadId: string;
  /** Operations of a slice. */
  readonly slice: number;
  /** Slices before the measurement, and pairs of slices in it. */
  readonly warmUps: number;
  readonly pairs: number;
}

async function measure({ own, base, isBaseFirst, slice, warmUps, pairs, ...task }: PairTask): Promise<number[]> {
  const workload = workloadOf(task.workloadId);
  const times = slice * (warmUps + pairs);
  const load = async (module: string): Promise<Operation> => {
    const { create } = (await import(module)) as { create: CreateContender };
    const setting = { wire: task.wire, baseURL: task.baseURL, workload, tool: TOOL, models: MODELS, weather };
    const run = operationOf(await create(setting), workload, times);
    if (run === undefined) throw new Error(`${module} does not take part in ${workload.id}.`);
    return run;
  };
  const costOf = async (run: Operation): Promise<number> => {
    const before = process.cpuUsage();
    await repeat(run, slice, workload.concurrency);
    const { user, system } = process.cpuUsage(before);
    return user + system;
  };
  const first = await load(isBaseFirst ? base : own);
  const second = await load(isBaseFirst ? own : base);
  for (let round = 0; round < warmUps; round += 1) {
    await costOf(first);
    await costOf(second);
  }
  const ratios: number[] = [];
  for (let pair = 0; pair < pairs; pair += 1) {
    const order = pair % 2 === 0 ? ([first, second] as const) : ([second, first] as const);
    const costs = new Map<Operation, number>();
    for (const run of order) costs.set(run, await costOf(run));
    const ratio = (costs.get(first) ?? NaN) / (costs.get(second) ?? NaN);
    ratios.push(isBaseFirst ? 1 / ratio : ratio);
  }
  return ratios;
}

measure(JSON.parse(process.argv[2] ?? '') as PairTask)
  .then((ratios) => {
    process.stdout.write(JSON.stringify(ratios));
    process.exit();
  })
  .catch((error: unknown) => {
    console.error(error);
    process.exit(1);
  });
