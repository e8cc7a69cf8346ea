/**
 * Measures what telemetry costs: `npm run bench:telemetry -- [W1 W2 W3] [--processes 6] [--rounds 40] [--save]`. CPU
 * time of Bolide relative to the same sources without telemetry: with no SDK of OpenTelemetry in the program, and with
 * one whose exporter drops everything. Both take turns in one process, in short rounds. The last column compares the
 * sources without telemetry with a copy of themselves: what it says of 1.00 is the error of the measurement.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { build } from 'esbuild';
import type { Plugin } from 'esbuild';
import { BUILD } from './bundle';
import { saveSection, table } from './resultsPage';
import { quantile } from './statistics';
import type { TelemetryTask } from './telemetry/measure';
import { workload } from './workloads';

const HEAD = ['workload', 'goal without an SDK', 'without an SDK', 'with a no-op exporter', 'against itself'];
const FOLDER = path.join(BUILD, 'telemetry');
const SOURCES = path.join(__dirname, 'telemetry');

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      processes: { type: 'string', default: '6' },
      rounds: { type: 'string', default: '40' },
      /** Writes RESULTS.md. */
      save: { type: 'boolean', default: false },
    },
  });
  await bundle();
  const simulator = fork(path.join(FOLDER, 'simulator.js'));
  const [port] = (await once(simulator, 'message')) as [number];
  const rows: string[][] = [];
  try {
    for (const id of positionals.length > 0 ? positionals : ['W1', 'W2', 'W3']) {
      const ratios = { none: [] as number[], noop: [] as number[], control: [] as number[] };
      for (let index = 0; index < Number(values.processes); index += 1)
        for (const compared of ['none', 'noop', 'control'] as const) {
          const task = { workloadId: id, port, compared, rounds: Number(values.rounds), isReversed: index % 2 === 1 };
          ratios[compared].push(...(await measure(task)));
        }
      const columns = [ratios.none, ratios.noop, ratios.control].map(spread);
      const row = [`${id} ${workload(id).title}`, '≤ 1.01', ...columns];
      rows.push(row);
      console.log(row.join(' | '));
    }
  } finally {
    simulator.disconnect();
  }
  console.log(`\n${table(HEAD, rows)}`);
  if (values.save)
    await saveSection({
      title: 'Telemetry',
      intro:
        '`npm run bench:telemetry -- --save`: CPU time relative to the same sources without telemetry, in rounds that take turns in one process: the median, with quartiles in parentheses. The last column is those sources against a copy of themselves.',
      head: HEAD,
      keys: 1,
      rows,
    });
}

/** @returns the median, with the quartiles in parentheses: differences of a hundredth count */
function spread(ratios: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(3));
  return `**${middle}** (${low}–${high})`;
}

/** @returns a ratio for each pair of rounds */
async function measure(task: TelemetryTask): Promise<readonly number[]> {
  const child = fork(path.join(FOLDER, 'measure.js'), [JSON.stringify(task)], { execArgv: ['--expose-gc'] });
  let ratios: readonly number[] = [];
  child.on('message', (message) => (ratios = message as readonly number[]));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The process that measured ${task.workloadId} ended with ${code}.`);
  return ratios;
}

async function bundle(): Promise<void> {
  const shared = {
    outdir: FOLDER,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node22',
    format: 'cjs',
    logLevel: 'warning',
  } as const;
  const contender = path.join(__dirname, 'contenders', 'bolide.ts');
  await Promise.all([
    build({
      ...shared,
      entryPoints: [
        { in: path.join(SOURCES, 'measure.ts'), out: 'measure' },
        { in: path.join(__dirname, 'simulator.ts'), out: 'simulator' },
        { in: contender, out: 'with' },
      ],
    }),
    ...['without', 'control'].map((out) =>
      build({ ...shared, plugins: [withoutTelemetry], entryPoints: [{ in: contender, out }] }),
    ),
  ]);
}

/** Takes telemetry out where the module is composed. */
const withoutTelemetry: Plugin = {
  name: 'without-telemetry',
  setup(bundler) {
    bundler.onResolve({ filter: /\/telemetry\/Telemetry$/ }, () => ({ path: path.join(SOURCES, 'NoTelemetry.ts') }));
  },
};

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
