/**
 * Finds what has become slower: `npm run bench:quick`. Compares this checkout with the commit in BASE in interleaved
 * rounds, by CPU time, on the main workloads and the gateway's JSON requests. Fails if one of them takes 8 % more, in
 * less than two minutes. `-- --base <commit>` names the commit, and `-- W3 W5` measures some of the workloads.
 */
import { execFile, fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { BUILD, bundle, moduleOf } from '../bundle';
import { CONTENDERS, contenderOf, OWN } from '../contenders';
import { ask } from '../gateway/ask';
import { AGAINST, bundle as bundleGateway, end, startContender, startVendor } from '../gateway/contenders';
import type { Contender } from '../gateway/contenders';
import { SCENARIOS } from '../gateway/scenarios';
import type { Scenario } from '../gateway/scenarios';
import type { Cost, Task } from '../measure';
import { repeat } from '../operations';
import { median } from '../statistics';
import { table } from '../resultsPage';
import { workload } from '../workloads';
import type { BenchWire } from '../workloads';
import { ACCEPTED, baseCommit, extract, subjectOf } from './base';
import type { PairTask } from './pairs';
import { intervalOf, SLOWER, verdictOf } from './verdict';

/** Milliseconds after which the measurement ends. What it has not decided by then does not fail. */
const TIME_LIMIT = 110_000;

/** What is compared. */
interface Row {
  readonly id: string;
  readonly batches: number[][];
  /**
   * Measures it in new processes.
   * @param isBaseFirst of the two checkouts, the base comes first
   * @throws if the time is over meanwhile
   */
  readonly measure: (isBaseFirst: boolean, over: AbortSignal) => Promise<number[]>;
}

/** Operations of a slice, and numbers of slices, of a process that takes about two seconds. */
const LOOPS = [
  { id: 'W1', slice: 40, warmUps: 12, pairs: 50 },
  { id: 'W1c', slice: 64, warmUps: 8, pairs: 40 },
  { id: 'W2', slice: 2, warmUps: 6, pairs: 30 },
  { id: 'W3', slice: 5, warmUps: 16, pairs: 50 },
  { id: 'W4l', slice: 1, warmUps: 3, pairs: 12 },
  { id: 'W5', slice: 1, warmUps: 10, pairs: 30 },
] as const;
const COLD = { id: 'W6', pairs: 6 } as const;
const GATEWAY = { scenario: 'json-chat', slice: 150, warmUps: 6, pairs: 15 } as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: { base: { type: 'string' } } });
  const startedAt = performance.now();
  const over = AbortSignal.timeout(TIME_LIMIT);
  const commit = values.base ?? (await baseCommit());
  if (commit === undefined) {
    console.log('Nothing is compared: the history has no earlier commit.');
    return;
  }
  console.log(`The base is ${await subjectOf(commit)}.`);
  const children: ChildProcess[] = [];
  const directory = await mkdtemp(path.join(tmpdir(), 'bolide-bench-'));
  try {
    const modules = await bundleBoth(await extract(commit));
    if (modules === undefined) return;
    const simulator = fork(path.join(BUILD, 'simulator.js'));
    children.push(simulator);
    const [port] = (await once(simulator, 'message')) as [number];
    const vendorUrl = await startVendor(children);
    const rows = rowsOf(modules, port, { vendorUrl, directory }).filter(
      ({ id }) => positionals.length === 0 || positionals.some((name) => id.startsWith(`${name} `)),
    );
    await measureAll(rows, over);
    report(rows);
    console.log(`${Math.round((performance.now() - startedAt) / 1_000)} s`);
  } finally {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

interface Modules {
  readonly own: string;
  readonly base: string;
}

/** @returns undefined if the base cannot be built with the packages that are installed now */
async function bundleBoth(folder: string): Promise<Modules | undefined> {
  const own = CONTENDERS.filter(({ id }) => id === OWN);
  const base = contenderOf(folder);
  await bundle(own);
  await bundleGateway();
  try {
    await bundle([base]);
    await bundleGateway(folder);
  } catch (error) {
    console.log(`Nothing is compared: the base cannot be built. ${String(error)}`);
    return undefined;
  }
  return { own: own.map(moduleOf).join(), base: moduleOf(base) };
}

function rowsOf(
  modules: Modules,
  port: number,
  setting: { readonly vendorUrl: string; readonly directory: string },
): readonly Row[] {
  const urlOf = (id: string, wire: BenchWire): string => `http://127.0.0.1:${port}/${id}/${wire}`;
  const loops = LOOPS.flatMap(({ id, ...sizes }) =>
    workload(id).wires.map((wire): Row => ({
      id: `${id} ${wire}`,
      batches: [],
      measure: (isBaseFirst, over) => {
        const task = { ...modules, ...sizes, isBaseFirst, wire, workloadId: id, baseURL: urlOf(id, wire) };
        return print<number[]>('regression/pairs.js', task, over);
      },
    })),
  );
  const cold = workload(COLD.id).wires.map((wire): Row => ({
    id: `${COLD.id} ${wire}`,
    batches: [],
    measure: (isBaseFirst, over) =>
      pairsOf(COLD.pairs, isBaseFirst, async (isBase) => {
        const module = isBase ? modules.base : modules.own;
        const task = { module, wire, workloadId: COLD.id, baseURL: urlOf(COLD.id, wire) };
        return (await print<Cost>('measure.js', task, over)).each;
      }),
  }));
  const gateway = SCENARIOS.filter(({ id }) => id === GATEWAY.scenario).map((scenario): Row => ({
    id: `gateway ${scenario.id}`,
    batches: [],
    measure: (isBaseFirst, over) => gatewayPairs({ ...scenario, requests: GATEWAY.slice }, setting, isBaseFirst, over),
  }));
  return [...gateway, ...cold, ...loops];
}

/** Runs a script of the build, which prints its result. */
async function print<R>(script: string, task: PairTask | Task, signal: AbortSignal): Promise<R> {
  // V8's own threads would work for one checkout while another one is measured.
  const flags = ['--single-threaded'];
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [...flags, path.join(BUILD, script), JSON.stringify(task)],
    { cwd: __dirname, signal },
  );
  return JSON.parse(stdout) as R;
}

/** @returns the ratios of this checkout's costs to the base's */
async function pairsOf(
  count: number,
  isBaseFirst: boolean,
  costOf: (isBase: boolean) => Promise<number>,
): Promise<number[]> {
  const ratios: number[] = [];
  for (let pair = 0; pair < count; pair += 1) {
    const isFirst = isBaseFirst === (pair % 2 === 0);
    const first = await costOf(isFirst);
    const second = await costOf(!isFirst);
    ratios.push(isFirst ? second / first : first / second);
  }
  return ratios;
}

async function gatewayPairs(
  scenario: Scenario,
  setting: { readonly vendorUrl: string; readonly directory: string },
  isBaseFirst: boolean,
  over: AbortSignal,
): Promise<number[]> {
  const children: ChildProcess[] = [];
  // A database of its own for every process.
  const fresh = { ...setting, directory: await mkdtemp(path.join(setting.directory, 'data-')) };
  try {
    const base = await startContender(AGAINST, fresh, children);
    const own = await startContender('bolide', fresh, children);
    const costOf = (isBase: boolean): Promise<number> => {
      over.throwIfAborted();
      return gatewayCost(scenario, isBase ? base : own);
    };
    await pairsOf(GATEWAY.warmUps, isBaseFirst, costOf);
    return await pairsOf(GATEWAY.pairs, isBaseFirst, costOf);
  } finally {
    await Promise.all(children.map(end));
  }
}

async function gatewayCost(scenario: Scenario, contender: Contender): Promise<number> {
  await contender.usage();
  await repeat(() => ask(scenario, contender), scenario.requests, scenario.concurrency);
  return (await contender.usage()).cpu;
}

/** Measures all rows, and again those that the rounds so far leave unclear. Two at a time. */
async function measureAll(rows: readonly Row[], over: AbortSignal): Promise<void> {
  for (let open = rows; open.length > 0; open = open.filter(({ batches }) => verdictOf(batches) === 'unclear')) {
    const queue = [...open];
    const worker = async (): Promise<void> => {
      for (let row = queue.shift(); row !== undefined; row = queue.shift())
        row.batches.push(await row.measure(row.batches.length % 2 === 0, over));
    };
    try {
      await Promise.all([worker(), worker()]);
    } catch (error) {
      if (over.aborted) return;
      throw error;
    }
  }
}

/** @throws Error if one of them has become slower */
function report(rows: readonly Row[]): void {
  const cells = rows.map(({ id, batches }) => {
    const ratios = batches.flat();
    const costs =
      ratios.length === 0
        ? ['–', '–']
        : [
            median(ratios).toFixed(3),
            intervalOf(ratios)
              .map((bound) => bound.toFixed(2))
              .join('–'),
          ];
    return [id, ...costs, String(batches.length), verdictOf(batches)];
  });
  console.log(table(['workload', 'CPU time relative to the base', '99 % interval', 'processes', 'verdict'], cells));
  const slower = rows.filter(({ batches }) => verdictOf(batches) === 'slower').map(({ id }) => id);
  const unclear = rows.filter(({ batches }) => verdictOf(batches) === 'unclear').map(({ id }) => id);
  if (unclear.length > 0) console.log(`The time did not suffice to decide on ${unclear.join(', ')}.`);
  if (slower.length === 0) return;
  throw new Error(
    `Takes ${Math.round((SLOWER - 1) * 100)} % more CPU time than the base, or more: ${slower.join(', ')}. ` +
      `Profile it with --cpu-prof, or accept the cost: write the commit into ${ACCEPTED}.`,
  );
}

main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error instanceof Error ? error.message : error);
    process.exit(1);
  },
);
