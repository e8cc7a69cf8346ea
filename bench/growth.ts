/**
 * Measures what must not grow with the runs that are stored, in the embedded database: `npm run bench:growth --
 * [--row <beginning of a name>] [--scale 1] [--save]`. Each row is measured in a process of its own, after its data was
 * stored. CPU time counts, since other programs share the machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GROWTH_ROWS } from './growthRows';
import type { Part } from './growthRows';
import { saveSection, table } from './resultsPage';

const HEAD = ['work', 'goal', 'cost'];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      row: { type: 'string', default: '' },
      scale: { type: 'string', default: '1' },
      /** Writes RESULTS.md. */
      save: { type: 'boolean', default: false },
    },
  });
  const chosen = GROWTH_ROWS.filter(({ name }) => name.startsWith(values.row));
  const measured = new Map<string, string>();
  await measureAll(chosen, values.scale, (name, figure) => {
    measured.set(name, figure);
    console.log(`${name}: ${figure}`);
  });
  const rows = chosen.map(({ name, goal }) => [name, goal, measured.get(name) ?? '–']);
  console.log(`\n${table(HEAD, rows)}`);
  if (values.save)
    await saveSection({
      title: 'Costs that must not grow with what is stored',
      intro: '`npm run bench:growth -- --save`: the embedded database. CPU time unless another unit is named.',
      head: HEAD,
      keys: 1,
      rows,
    });
}

/** Rows that follow each other and have the same data are measured one after another on it. */
async function measureAll(
  rows: typeof GROWTH_ROWS,
  scale: string,
  report: (name: string, figure: string) => void,
): Promise<void> {
  let stored: readonly Part[] | undefined;
  let directory = '';
  const clear = (): Promise<void> => rm(directory, { recursive: true, force: true });
  try {
    for (const row of rows) {
      if (row.stored !== stored) {
        if (directory !== '') await clear();
        directory = await mkdtemp(join(tmpdir(), 'bolide-growth-'));
        stored = row.stored;
        for (const part of stored.keys()) await inProcess(row.name, String(part), directory, scale);
      }
      report(row.name, await inProcess(row.name, MEASURED, directory, scale));
    }
  } finally {
    if (directory !== '') await clear();
  }
}

/** In place of the number of a part. */
const MEASURED = 'measured';

/** @returns what the part reports */
async function inProcess(name: string, part: string, directory: string, scale: string): Promise<string> {
  const child = fork(__filename, ['--child', name, part, directory, scale]);
  let reported = '';
  child.on('message', (message) => (reported = typeof message === 'string' ? message : ''));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The process that measured "${name}" ended with ${code}.`);
  return reported;
}

async function measure([name, part, directory, scale]: readonly string[]): Promise<void> {
  const row = GROWTH_ROWS.find((each) => each.name === name);
  const work = part === MEASURED ? row?.measure : row?.stored[Number(part)];
  if (work === undefined || directory === undefined) throw new Error(`There is no row ${name}.`);
  const reported = await work(directory, (count) => Math.max(1, Math.round(count * Number(scale))));
  process.send?.(reported ?? '');
  if (process.connected) process.disconnect();
}

const [flag, ...given] = process.argv.slice(2);
(flag === '--child' ? measure(given) : main()).catch((error: unknown) => {
  console.error(error);
  process.exitCode = 1;
});
