/**
 * Runs the benchmarks: `npm run bench`, or a part of them: `npm run bench -- W2 W5 --only bolide,raw-sdk --rounds 5
 * --save`. `npm run bench -- W3 --against ../main` measures Bolide of another checkout in the same rounds. Every
 * measurement runs in a separate process, and so does the simulated vendor. Rounds are interleaved, so that other load
 * on the machine affects all contenders alike. The results are ratios of CPU time to the official SDK used directly.
 */
import { fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { build } from 'esbuild';
import { CONTENDERS, contenderOf, OWN, REFERENCE } from './contenders';
import type { ContenderRow } from './contenders';
import type { Cost, Task } from './measure';
import { comparisonTable, describeMachine, resultsPage, resultsTable } from './results';
import type { Measured } from './results';
import { WORKLOADS, workload } from './workloads';
import type { BenchWire, Workload } from './workloads';

const BUILD = path.join(__dirname, '.build');

const OPTIONS = {
  only: { type: 'string' },
  /** The root of another checkout of the repository, whose Bolide takes part as well. */
  against: { type: 'string' },
  rounds: { type: 'string', default: '7' },
  /** Writes RESULTS.md for a partial run too; a full run always writes it. */
  save: { type: 'boolean', default: false },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const workloads = positionals.length === 0 ? WORKLOADS : positionals.map(workload);
  const other = values.against === undefined ? undefined : contenderOf(path.resolve(values.against));
  if (other !== undefined && values.save) throw new Error('RESULTS.md has no place for another checkout: omit --save.');
  const contenders = [
    ...selectContenders(values.only?.split(',') ?? (other === undefined ? undefined : [OWN])),
    ...(other === undefined ? [] : [other]),
  ];
  await bundle(other);
  const simulator = fork(path.join(BUILD, 'simulator.js'));
  const [port] = (await once(simulator, 'message')) as [number];
  const measured: Measured[] = [];
  const isSaved =
    values.save || (positionals.length === 0 && values.only === undefined && values.against === undefined);
  const machine = describeMachine(versions(contenders));
  try {
    for (const each of workloads) {
      for (const wire of each.wires) measured.push(await compare(each, wire, contenders, Number(values.rounds), port));
      // Saved after every workload, so that a later failure loses nothing.
      if (isSaved) await writeFile(path.join(__dirname, 'RESULTS.md'), resultsPage(measured, contenders, machine));
    }
  } finally {
    await end(simulator);
  }
  console.log(resultsTable(measured, contenders));
  if (other !== undefined) console.log(`\n${comparisonTable(measured, other.id)}`);
}

function selectContenders(names: readonly string[] | undefined): readonly ContenderRow[] {
  const unknown = names?.filter((name) => CONTENDERS.every(({ id }) => id !== name)) ?? [];
  if (unknown.length > 0)
    throw new Error(
      `Unknown contender: ${unknown.join(', ')}. Expected any of: ${CONTENDERS.map(({ id }) => id).join(', ')}.`,
    );
  return CONTENDERS.filter(({ id, file, packages }) => {
    if (id === REFERENCE) return true;
    if (names !== undefined && !names.includes(id)) return false;
    const isInstalled =
      file.endsWith('.ts') || packages.every((name) => existsSync(path.join(__dirname, 'node_modules', name)));
    if (!isInstalled) console.error(`Skipping ${id}: run \`npm install --prefix bench\` to install its packages.`);
    return isInstalled;
  });
}

/** Writes only here. The packages that another checkout's sources import are this checkout's. */
async function bundle(other: ContenderRow | undefined): Promise<void> {
  const sources = [...CONTENDERS, ...(other === undefined ? [] : [other])].filter(({ file }) => file.endsWith('.ts'));
  await build({
    entryPoints: [
      { in: path.join(__dirname, 'measure.ts'), out: 'measure' },
      { in: path.join(__dirname, 'simulator.ts'), out: 'simulator' },
      ...sources.map((row) => ({
        in: path.join(
          row.checkout === undefined ? __dirname : path.join(row.checkout, 'bench'),
          'contenders',
          row.file,
        ),
        out: builtFile(row).replace(/\.js$/, ''),
      })),
    ],
    outdir: BUILD,
    bundle: true,
    packages: 'external',
    platform: 'node',
    target: 'node20',
    format: 'cjs',
    sourcemap: 'inline',
    logLevel: 'warning',
  });
}

/** Relative to `BUILD`. */
function builtFile({ file, checkout }: ContenderRow): string {
  return path.join(checkout === undefined ? 'contenders' : 'against', file.replace(/\.ts$/, '.js'));
}

async function compare(
  each: Workload,
  wire: BenchWire,
  contenders: readonly ContenderRow[],
  rounds: number,
  port: number,
): Promise<Measured> {
  const costs = new Map<string, Cost[]>(contenders.map(({ id }) => [id, []]));
  for (let round = 0; round < rounds; round += 1) {
    // Each round starts with a different contender.
    const order = contenders
      .map((_, index) => contenders[(index + round) % contenders.length])
      .filter((row) => row !== undefined);
    for (const row of order) {
      const cost = await measureOnce(row, {
        workload: each,
        wire,
        baseURL: `http://127.0.0.1:${port}/${each.id}/${wire}`,
      });
      if (cost !== null) costs.get(row.id)?.push(cost);
    }
    process.stderr.write(`\r${each.id} ${wire}: round ${round + 1} of ${rounds} `);
  }
  process.stderr.write('\n');
  return { workload: each, wire, costs };
}

async function measureOnce(row: ContenderRow, setting: Task['setting']): Promise<Cost | null> {
  const module = row.file.endsWith('.ts')
    ? path.join(BUILD, builtFile(row))
    : path.join(__dirname, 'contenders', row.file);
  const task: Task = { module, setting };
  const options = {
    cwd: __dirname,
    timeout: 300_000,
    env: { ...process.env, OPENAI_AGENTS_DISABLE_TRACING: '1', LANGSMITH_TRACING: 'false' },
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--expose-gc', path.join(BUILD, 'measure.js'), JSON.stringify(task)],
    options,
  );
  return JSON.parse(stdout) as Cost | null;
}

async function end(child: ChildProcess): Promise<void> {
  child.disconnect();
  if (child.exitCode === null) await once(child, 'exit');
}

function versions(contenders: readonly ContenderRow[]): readonly string[] {
  const require = createRequire(path.join(BUILD, 'measure.js'));
  return contenders.flatMap(({ packages }) =>
    packages.map((name) => {
      const folder =
        require.resolve.paths(name)?.find((place) => existsSync(path.join(place, name, 'package.json'))) ?? '';
      return `${name} ${(require(path.join(folder, name, 'package.json')) as { version: string }).version}`;
    }),
  );
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
