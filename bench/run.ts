/**
 * Runs the benchmarks: `npm run bench`, or a part of them: `npm run bench -- W2 W5 --only bolide,raw-sdk --rounds 5
 * --save`. `npm run bench -- W3 --against ../main` measures Bolide of another checkout in the same rounds. Every
 * measurement runs in a separate process, and so does the simulated vendor. Rounds are interleaved, so that other load
 * on the machine affects all contenders alike. The results are ratios of CPU time to the official SDK used directly.
 */
import { execFile, fork } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { createRequire } from 'node:module';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { BUILD, bundle, moduleOf, PACKAGE } from './bundle';
import { CONTENDERS, contenderOf, OWN, REFERENCE } from './contenders';
import type { ContenderRow } from './contenders';
import type { Cost, Task } from './measure';
import { comparisonTable, missedGoals, sectionsOf } from './results';
import type { Measured } from './results';
import { saveSection, table } from './resultsPage';
import { WORKLOADS, workload } from './workloads';
import type { BenchWire, Workload } from './workloads';

const require = createRequire(path.join(BUILD, 'measure.js'));

const OPTIONS = {
  only: { type: 'string' },
  /** The root of another checkout of the repository, whose Bolide takes part as well. */
  against: { type: 'string' },
  rounds: { type: 'string', default: '5' },
  /** Writes RESULTS.md for a partial run too; a full run always writes it. */
  save: { type: 'boolean', default: false },
} as const;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({ allowPositionals: true, options: OPTIONS });
  const other = values.against === undefined ? undefined : contenderOf(path.resolve(values.against));
  if (other !== undefined && values.save) throw new Error('RESULTS.md has no place for another checkout: omit --save.');
  const only = values.only?.split(',') ?? (other === undefined ? undefined : [OWN]);
  const contenders = [...(await selectContenders(only)), ...(other === undefined ? [] : [other])];
  const workloads = positionals.length > 0 ? positionals.map(workload) : WORKLOADS;
  const isSaved = values.save || (positionals.length === 0 && only === undefined);
  await bundle(contenders);
  const simulator = fork(path.join(BUILD, 'simulator.js'));
  const [port] = (await once(simulator, 'message')) as [number];
  const rounds = Number(values.rounds);
  const measured: Measured[] = [];
  try {
    for (const each of workloads)
      for (const wire of each.wires) {
        const added = await compare({ workload: each, wire, contenders, rounds, port });
        measured.push(added);
        // Saved after every measurement, so that a later failure loses nothing.
        if (isSaved)
          for (const section of sectionsOf([added], CONTENDERS))
            await saveSection({ ...section, versions: versions(contenders) });
      }
  } finally {
    await end(simulator);
  }
  for (const { head, rows } of sectionsOf(measured, contenders)) console.log(`${table(head, rows)}\n`);
  if (other !== undefined) console.log(`${comparisonTable(measured, other.id)}\n`);
  const missed = missedGoals(measured);
  console.log(missed.length === 0 ? 'All goals are met.' : `Missed goals:\n${missed.join('\n')}`);
}

async function selectContenders(names: readonly string[] | undefined): Promise<readonly ContenderRow[]> {
  const unknown = names?.filter((name) => CONTENDERS.every(({ id }) => id !== name)) ?? [];
  if (unknown.length > 0)
    throw new Error(
      `Unknown contender: ${unknown.join(', ')}. Expected any of: ${CONTENDERS.map(({ id }) => id).join(', ')}.`,
    );
  const isBuilt = await isPackageBuilt();
  return CONTENDERS.filter(({ id, packages, loads }) => {
    if (id === REFERENCE) return true;
    if (names !== undefined && !names.includes(id)) return false;
    if (loads?.startsWith('package') === true && !isBuilt) {
      console.error(`Skipping ${id}: run \`npm run build\`; build/package is missing or older than the sources.`);
      return false;
    }
    const missing = packages.filter((name) => folderOf(name) === undefined);
    if (missing.length > 0)
      console.error(`Skipping ${id}: run \`npm install --prefix bench\` to install ${missing.join(', ')}.`);
    return missing.length === 0;
  });
}

async function isPackageBuilt(): Promise<boolean> {
  const built = await stat(path.join(PACKAGE, 'index.js')).catch(() => undefined);
  if (built === undefined) return false;
  const sources = path.join(__dirname, '..', 'imports');
  for (const file of await readdir(sources, { recursive: true }))
    if ((await stat(path.join(sources, file))).mtimeMs > built.mtimeMs) return false;
  return true;
}

interface Comparison {
  readonly workload: Workload;
  readonly wire: BenchWire;
  readonly contenders: readonly ContenderRow[];
  readonly rounds: number;
  /** The simulator's. */
  readonly port: number;
}

async function compare({ workload: each, wire, rounds, port, ...compared }: Comparison): Promise<Measured> {
  const contenders = compared.contenders.filter(({ sections }) => sections?.includes(each.section) !== false);
  const costs = new Map<string, Cost[]>(contenders.map(({ id }) => [id, []]));
  const task = {
    workloadId: each.id,
    wire,
    baseURL: `http://127.0.0.1:${port}/${each.id}/${wire}`,
  };
  for (let round = 0; round < rounds; round += 1) {
    // Each round starts with a different contender.
    const order = contenders
      .map((_, index) => contenders[(index + round) % contenders.length])
      .filter((row) => row !== undefined);
    for (const row of order) {
      const cost = await measureOnce(row, { ...task, module: moduleOf(row) });
      if (cost !== null) costs.get(row.id)?.push(cost);
    }
    process.stderr.write(`\r${each.id} ${wire}: round ${round + 1} of ${rounds} `);
  }
  process.stderr.write('\n');
  return { workload: each, wire, costs };
}

async function measureOnce({ loads }: ContenderRow, task: Task): Promise<Cost | null> {
  const options = {
    cwd: __dirname,
    timeout: 300_000,
    env: {
      ...process.env,
      OPENAI_AGENTS_DISABLE_TRACING: '1',
      LANGSMITH_TRACING: 'false',
      TSX_TSCONFIG_PATH: path.join(__dirname, '..', 'tsconfig.node.json'),
    },
  };
  const { stdout } = await promisify(execFile)(
    process.execPath,
    [
      '--expose-gc',
      ...(loads === 'tsx' ? ['--import', 'tsx'] : []),
      path.join(BUILD, 'measure.js'),
      JSON.stringify(task),
    ],
    options,
  );
  return JSON.parse(stdout) as Cost | null;
}

async function end(child: ChildProcess): Promise<void> {
  child.disconnect();
  if (child.exitCode === null) await once(child, 'exit');
}

function versions(contenders: readonly ContenderRow[]): readonly string[] {
  return contenders.flatMap(({ packages }) =>
    packages.map((name) => {
      const { version } = require(path.join(folderOf(name) ?? '', 'package.json')) as { version: string };
      return `${name} ${version}`;
    }),
  );
}

/** Where a bundle finds a package, if it is installed. */
function folderOf(name: string): string | undefined {
  return require.resolve
    .paths(name)
    ?.map((place) => path.join(place, name))
    .find((folder) => existsSync(path.join(folder, 'package.json')));
}

main().catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
