/**
 * Measures gateways against a plain relay: `npm run bench:gateway`, or a part of it: `npm run bench:gateway --
 * paced-chat --rounds 3 --only relay,bolide`. Vendor, relay and gateways are processes of their own, and rounds
 * alternate between them, so that other load on the machine affects all alike. Prints CPU per request or delta, and
 * memory; `--save` writes the rows to RESULTS.md, too. `--against ../main` measures Bolide of another checkout in the
 * same rounds, and fails if this one takes 8 % more. `--minutes 10` prints the memory of each minute under 500 paced
 * streams instead, and `--profile <directory>` writes CPU profiles.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { repeat } from '../operations';
import { ask } from './ask';
import { AGAINST, bundle, contenderOf, CONTENDERS, end, startContender, startVendor } from './contenders';
import type { Contender } from './contenders';
import { saveSection, table } from '../resultsPage';
import { median, quantile } from '../statistics';
import { memoryByMinute } from './memory';
import type { ProcessUsage } from './reportUsage';
import { scenarioOf, SCENARIOS } from './scenarios';
import type { Scenario } from './scenarios';

/** Megabytes that the gateway may take under paced streams. */
const MEMORY_GOAL = 250;
/** The CPU time relative to another checkout from which on a scenario has become slower. */
const SLOWER = 1.08;

/** Microseconds of CPU per request or delta, and bytes of memory. One of each per round. */
interface Costs {
  readonly each: number[];
  readonly memory: number[];
}

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      rounds: { type: 'string', default: '5' },
      only: { type: 'string' },
      /** The root of another checkout of the repository. */
      against: { type: 'string' },
      minutes: { type: 'string' },
      profile: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  const isMemory = values.minutes !== undefined;
  const chosen = positionals.length === 0 && isMemory ? ['paced-openai'] : positionals;
  const scenarios = chosen.length === 0 ? SCENARIOS : chosen.map(scenarioOf);
  const unpaced = scenarios.find(({ every }) => isMemory && every === undefined);
  if (unpaced !== undefined) throw new Error(`--minutes measures paced streams only, and ${unpaced.id} has none.`);
  const { against } = values;
  if (against !== undefined && values.save)
    throw new Error('RESULTS.md has no place for another checkout: omit --save.');
  const only = values.only?.split(',') ?? (against === undefined ? CONTENDERS : ['relay', 'bolide']);
  const names = [...only.map(contenderOf), ...(against === undefined ? [] : ([AGAINST] as const))];
  await bundle(against === undefined ? undefined : path.resolve(against));
  const directory = await mkdtemp(path.join(tmpdir(), 'bolide-bench-'));
  const children: ChildProcess[] = [];
  try {
    const vendorUrl = await startVendor(children);
    const setting = { vendorUrl, directory, ...(values.profile === undefined ? {} : { profiles: values.profile }) };
    const contenders: Contender[] = [];
    for (const name of names) contenders.push(await startContender(name, setting, children));
    const { minutes, save: isSaved } = values;
    if (minutes === undefined) await reportCosts(scenarios, contenders, { rounds: Number(values.rounds), isSaved });
    else await reportMemory(scenarios, contenders, { minutes: Number(minutes), isSaved });
  } finally {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

const COSTS = {
  title: 'Gateway',
  intro: `\`npm run bench:gateway -- --save\`: CPU time of the gateway's process per request or delta, and relative to a plain relay over
\`node:http\` (1.00): the median of interleaved rounds, with quartiles in parentheses. Memory is the largest resident set of the rounds.`,
  head: ['scenario', 'API', 'contender', 'CPU of each', 'ratio to the relay', 'goal', 'memory'],
  keys: 3,
} as const;

async function reportCosts(
  scenarios: readonly Scenario[],
  contenders: readonly Contender[],
  { rounds, isSaved }: { readonly rounds: number; readonly isSaved: boolean },
): Promise<void> {
  const all: (readonly string[])[] = [];
  const slower: string[] = [];
  for (const scenario of scenarios) {
    const taking = contenders.filter(({ kind }) => kind.takesPart?.(scenario) !== false);
    const measured = await measureRounds(scenario, taking, rounds);
    const rows = rowsOf(scenario, measured);
    all.push(...rows);
    slower.push(...slowerThanBefore(scenario, measured));
    process.stderr.write(`${scenario.id} is measured.\n`);
    // Saved after every scenario, so that a later failure loses nothing.
    if (isSaved) await saveSection({ ...COSTS, rows, rounds });
  }
  console.log(table(COSTS.head, all));
  if (slower.length > 0) throw new Error(`Slower than the other checkout:\n${slower.join('\n')}`);
}

function noCosts(): Costs {
  return { each: [], memory: [] };
}

/** A contender in a scenario. */
interface Measured {
  readonly contender: Contender;
  readonly costs: Costs;
  /** Why it cannot take part. */
  failure?: string;
}

async function measureRounds(
  scenario: Scenario,
  contenders: readonly Contender[],
  rounds: number,
): Promise<readonly Measured[]> {
  const measured = contenders.map((contender): Measured => ({ contender, costs: noCosts() }));
  const { warmUps = 1 } = scenario;
  for (let round = 0; round < warmUps + rounds; round += 1)
    for (const each of round % 2 === 0 ? measured : measured.toReversed()) {
      const { contender, costs } = each;
      if (each.failure !== undefined) continue;
      const used = await measure(scenario, contender).catch((error: unknown) => {
        // Another project's gateway may not serve every scenario.
        if (contender.name !== 'portkey') throw error;
        each.failure = String(error);
      });
      if (used === undefined) continue;
      const { cpu, memory } = used;
      if (round < warmUps) continue;
      costs.each.push(cpu / (scenario.requests * (scenario.deltas ?? 1)));
      costs.memory.push(memory);
    }
  return measured;
}

function ratiosTo(name: Contender['name'], { each }: Costs, measured: readonly Measured[]): readonly number[] {
  const other = measured.find(({ contender }) => contender.name === name)?.costs;
  return each.map((cost, round) => cost / (other?.each[round] ?? NaN));
}

/** @returns a line if Bolide takes more CPU time than that of the other checkout */
function slowerThanBefore({ id }: Scenario, measured: readonly Measured[]): readonly string[] {
  const own = measured.find(({ contender }) => contender.name === 'bolide');
  if (own === undefined || !measured.some(({ contender }) => contender.name === AGAINST)) return [];
  const ratios = ratiosTo(AGAINST, own.costs, measured);
  console.log(`${id}: ${median(ratios).toFixed(2)} (${quartiles(ratios)}) of the other checkout's CPU time`);
  return median(ratios) >= SLOWER ? [`${id}: ${median(ratios).toFixed(2)} (${quartiles(ratios)})`] : [];
}

function rowsOf(scenario: Scenario, measured: readonly Measured[]): readonly (readonly string[])[] {
  return measured.map(({ contender, costs, failure }) => {
    const { name } = contender;
    if (failure !== undefined) return [scenario.title, scenario.wire, name, `fails: ${failure}`, '–', '–', '–'];
    const ratios = ratiosTo('relay', costs, measured);
    const isGateway = name !== 'relay';
    return [
      scenario.title,
      scenario.wire + (scenario.provider === undefined ? '' : ` on ${scenario.provider}`),
      name,
      `${median(costs.each).toFixed(1)} µs`,
      isGateway ? `${median(ratios).toFixed(2)} (${quartiles(ratios)})` : '1.00',
      name === 'bolide' ? `≤ ${scenario.goal.toFixed(1)}, ≤ ${MEMORY_GOAL} MB` : '–',
      megabytes(Math.max(...costs.memory)),
    ];
  });
}

async function measure(scenario: Scenario, contender: Contender): Promise<ProcessUsage> {
  await contender.usage();
  await repeat(() => ask(scenario, contender), scenario.requests, scenario.concurrency);
  return contender.usage();
}

const MEMORY = {
  title: 'Gateway, memory over time',
  intro:
    '`npm run bench:gateway -- --minutes 10 --save`: the largest resident set of each minute, under 500 paced streams at all times.',
  head: ['scenario', 'API', 'contender', 'by minute'],
  keys: 3,
} as const;

async function reportMemory(
  scenarios: readonly Scenario[],
  contenders: readonly Contender[],
  { minutes, isSaved }: { readonly minutes: number; readonly isSaved: boolean },
): Promise<void> {
  const rows: (readonly string[])[] = [];
  for (const scenario of scenarios)
    for (const contender of contenders) {
      const memory = await memoryByMinute(scenario, contender, minutes);
      rows.push([scenario.title, scenario.wire, contender.name, memory.map(megabytes).join(', ')]);
    }
  if (isSaved) await saveSection({ ...MEMORY, rows });
  console.log(table(MEMORY.head, rows));
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1_048_576)} MB`;
}

function quartiles(values: readonly number[]): string {
  return [0.25, 0.75].map((part) => quantile(values, part).toFixed(2)).join('–');
}

void main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
