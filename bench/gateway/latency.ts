/**
 * Measures what operators ask of a gateway, in absolute figures: `npm run bench:latency`, or `-- --rounds 3 --seconds 5
 * --only relay,bolide`. Requests are JSON of Chat Completions, sent at a fixed rate whether earlier ones have been
 * answered or not, to a vendor that responds at once: what they take more than a request to the vendor itself is added
 * latency. Rounds alternate between the servers. `--save` writes the rows to RESULTS.md.
 */
import type { ChildProcess } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { saveSection, table } from '../resultsPage';
import { median, quantile } from '../statistics';
import { ask, disconnect } from './ask';
import type { Asked } from './ask';
import { bundle, contenderOf, CONTENDERS, end, startContender, startVendor } from './contenders';
import type { Contender } from './contenders';
import { scenarioOf } from './scenarios';

const SCENARIO = scenarioOf('json-chat');
/** Requests per second. */
const RATES = [100, 1_000] as const;
type Rate = (typeof RATES)[number];
/** Requests, 32 at once, before anything is measured, and those whose CPU time is measured in a round. */
const [WARM_UPS, REQUESTS] = [10_000, 2_000];
const SHARES = [0.5, 0.99] as const;

/** Milliseconds at each of `SHARES`. */
type Latency = readonly number[];

interface Measured {
  readonly contender: Contender;
  /** Microseconds per request. */
  readonly cpu: number[];
  /** What each round has added. */
  readonly added: Readonly<Record<Rate, Latency[]>>;
  /** Bytes. */
  readonly memoryAtStart: number;
  memory: number;
}

const SECTION = {
  title: 'Gateway, absolute figures',
  intro:
    '`npm run bench:latency -- --save`: JSON requests to a vendor that responds at once, on this machine. Added latency is the difference to a request to the vendor itself, at the median and the 99th percentile: the median of interleaved rounds. Memory is the resident set after the start, and the largest one after a round.',
  head: ['server', 'requests per second of a core', ...RATES.map((rate) => `added at ${rate}/s: p50, p99`), 'memory'],
  keys: 1,
} as const;

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      rounds: { type: 'string', default: '5' },
      seconds: { type: 'string', default: '10' },
      only: { type: 'string' },
      save: { type: 'boolean', default: false },
    },
  });
  const names = values.only?.split(',').map(contenderOf) ?? CONTENDERS;
  await bundle();
  const directory = await mkdtemp(path.join(tmpdir(), 'bolide-bench-'));
  const children: ChildProcess[] = [];
  try {
    const vendorUrl = await startVendor(children);
    const vendor: Asked = { url: vendorUrl, vendorUrl, kind: { headers: () => ({}), modelOf: (_, model) => model } };
    const all: Measured[] = [];
    for (const name of names) all.push(await open(await startContender(name, { vendorUrl, directory }, children)));
    // First, since a server that falls behind at a rate has more to collect from then on.
    for (let round = 0; round < Number(values.rounds); round += 1)
      for (const { contender, cpu } of all) cpu.push(await cpuOf(contender));
    for (let round = 0; round < Number(values.rounds); round += 1) {
      for (const rate of RATES) {
        const direct = await latencyOf(vendor, rate, Number(values.seconds));
        for (const { contender, added } of round % 2 === 0 ? all : all.toReversed()) {
          const latency = await latencyOf(contender, rate, Number(values.seconds));
          added[rate].push(latency.map((milliseconds, at) => milliseconds - (direct[at] ?? NaN)));
        }
      }
      for (const measured of all) {
        const { memory } = await measured.contender.usage();
        measured.memory = Math.max(measured.memory, memory);
      }
      process.stderr.write(`Round ${round + 1} is measured.\n`);
    }
    const rows = all.map(rowOf);
    if (values.save) await saveSection({ ...SECTION, rows, rounds: Number(values.rounds) });
    console.log(table(SECTION.head, rows));
  } finally {
    await Promise.all(children.map(end));
    await rm(directory, { recursive: true, force: true });
  }
}

async function open(contender: Contender): Promise<Measured> {
  const { memory } = await contender.usage();
  await askMany(contender, WARM_UPS);
  return { contender, cpu: [], added: { 100: [], 1_000: [] }, memoryAtStart: memory, memory };
}

async function cpuOf(contender: Contender): Promise<number> {
  await contender.usage();
  await askMany(contender, REQUESTS);
  return (await contender.usage()).cpu / REQUESTS;
}

/** On connections of its own. */
async function askMany(asked: Asked, requests: number): Promise<void> {
  disconnect();
  let left = requests;
  const worker = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await ask(SCENARIO, asked);
    }
  };
  await Promise.all(Array.from({ length: SCENARIO.concurrency }, worker));
}

/** Sends requests at the rate, those that are due at once if the timer was late. */
async function latencyOf(asked: Asked, rate: Rate, seconds: number): Promise<Latency> {
  await askMany(asked, SCENARIO.concurrency);
  const taken: number[] = [];
  const sent: Promise<void>[] = [];
  const send = async (): Promise<void> => {
    const startedAt = performance.now();
    await ask(SCENARIO, asked);
    taken.push(performance.now() - startedAt);
  };
  const startedAt = performance.now();
  while (sent.length < rate * seconds) {
    const due = Math.min(rate * seconds, ((performance.now() - startedAt) / 1_000) * rate);
    while (sent.length < due) sent.push(send());
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await Promise.all(sent);
  return SHARES.map((share) => quantile(taken, share));
}

function rowOf({ contender, cpu, added, memoryAtStart, memory }: Measured): readonly string[] {
  return [
    contender.name,
    String(Math.round(1_000_000 / median(cpu))),
    ...RATES.map((rate) =>
      SHARES.map((_, at) => `${median(added[rate].map((latency) => latency[at] ?? NaN)).toFixed(2)} ms`).join(', '),
    ),
    [memoryAtStart, memory].map((bytes) => `${Math.round(bytes / 1_048_576)} MB`).join(', '),
  ];
}

void main().then(
  () => process.exit(),
  (error: unknown) => {
    console.error(error);
    process.exit(1);
  },
);
