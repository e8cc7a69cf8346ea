/**
 * Measures gateways against a plain relay: `npm run bench:gateway`, or a part of it: `npm run bench:gateway --
 * paced-chat --rounds 3 --only relay,bolide`. Vendor, relay and gateways are processes of their own, and rounds
 * alternate between them, so that other load on the machine affects all alike. Prints CPU per request or delta, and
 * memory; `--save` writes the rows to RESULTS.md, too. `--minutes 10` prints the memory of each minute under 500 paced
 * streams instead, and `--profile <directory>` writes CPU profiles.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { ask } from './ask';
import { bundle, CONTENDERS, end, startContender, startVendor } from './contenders';
import type { Contender, ContenderName } from './contenders';
import { saveSection, table } from '../resultsPage';
import { memoryByMinute } from './memory';
import type { ProcessUsage } from './reportUsage';
import { SCENARIOS } from './scenarios';
import type { Scenario } from './scenarios';

/** Megabytes that the gateway may take under paced streams. */
const MEMORY_GOAL = 250;

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
      only: { type: 'string', default: CONTENDERS.join(',') },
      minutes: { type: 'string' },
      profile: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  const isMemory = values.minutes !== undefined;
  const scenarios = chosen(
    SCENARIOS.filter(({ id }) => !isMemory || id.startsWith('paced-')),
    positionals.length === 0 && isMemory ? ['paced-openai'] : positionals,
  );
  const names = values.only.split(',').map(contenderOf);
  await bundle();
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

function chosen(scenarios: readonly Scenario[], ids: readonly string[]): readonly Scenario[] {
  const unknown = ids.filter((id) => !scenarios.some((scenario) => scenario.id === id));
  if (unknown.length > 0)
    throw new Error(`Unknown scenario: ${unknown.join(', ')}. Known: ${scenarios.map(({ id }) => id).join(', ')}.`);
  return ids.length === 0 ? scenarios : scenarios.filter(({ id }) => ids.includes(id));
}

function contenderOf(name: string): ContenderName {
  const known = CONTENDERS.find((each) => each === name);
  if (known === undefined) throw new Error(`Unknown contender: ${name}. Known: ${CONTENDERS.join(', ')}.`);
  return known;
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
  for (const scenario of scenarios) {
    const taking = contenders.filter(({ kind }) => kind.takesPart?.(scenario) !== false);
    const rows = await compare(scenario, taking, rounds);
    all.push(...rows);
    process.stderr.write(`${scenario.id} is measured.\n`);
    // Saved after every scenario, so that a later failure loses nothing.
    if (isSaved) await saveSection({ ...COSTS, rows, rounds });
  }
  console.log(table(COSTS.head, all));
}

function noCosts(): Costs {
  return { each: [], memory: [] };
}

async function compare(
  scenario: Scenario,
  contenders: readonly Contender[],
  rounds: number,
): Promise<readonly (readonly string[])[]> {
  const measured = contenders.map((contender) => ({ contender, costs: noCosts() }));
  // The first round warms up.
  const failures = new Map<Contender, unknown>();
  for (let round = 0; round <= rounds; round += 1)
    for (const { contender, costs } of round % 2 === 0 ? measured : measured.toReversed()) {
      if (failures.has(contender)) continue;
      const used = await measure(scenario, contender).catch((error: unknown) => {
        // Another project's gateway may not serve every scenario.
        if (contender.name !== 'portkey') throw error;
        failures.set(contender, error);
      });
      if (used === undefined) continue;
      const { cpu, memory } = used;
      if (round === 0) continue;
      costs.each.push(cpu / (scenario.requests * (scenario.deltas ?? 1)));
      costs.memory.push(memory);
    }
  const plain = measured.find(({ contender }) => contender.name === 'relay')?.costs;
  return measured.map(({ contender, costs }) => {
    const { name } = contender;
    if (failures.has(contender))
      return [scenario.title, scenario.wire, name, `fails: ${String(failures.get(contender))}`, '–', '–', '–'];
    const ratios = costs.each.map((cost, round) => cost / (plain?.each[round] ?? NaN));
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
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < scenario.requests) {
      next += 1;
      await ask(scenario, contender);
    }
  };
  await Promise.all(Array.from({ length: scenario.concurrency }, worker));
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

function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

function quartiles(values: readonly number[]): string {
  return [0.25, 0.75].map((part) => quantile(values, part).toFixed(2)).join('–');
}

function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (sorted.length - 1) * part;
  const [low, high] = [sorted[Math.floor(at)] ?? NaN, sorted[Math.ceil(at)] ?? NaN];
  return low + (high - low) * (at - Math.floor(at));
}

void main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
