/**
 * Measures what must not grow with the runs that are stored, in the embedded database: `npm run bench:growth --
 * [--row <beginning of a name>] [--scale 1] [--save]`. Each row is measured in a process of its own, after its data
 * was stored. CPU time counts, since other programs share the machine.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { GROWTH_ROWS } from './growthRows';
import { saveSection, table } from './resultsPage';

const HEAD = ['work', 'goal', 'measured'];

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: {
      row: { type: 'string', default: '' },
      scale: { type: 'string', default: '1' },
      /** Of the embedded database: `nedb` or `sqlite`. */
      engine: { type: 'string', default: 'nedb' },
      /** Writes RESULTS.md. */
      save: { type: 'boolean', default: false },
    },
  });
  const scale = Number(values.scale);
  // The processes that measure inherit it.
  process.env['DATA_ENGINE'] = values.engine;
  const rows: string[][] = [];
  for (const { name, goal, parts } of GROWTH_ROWS) {
    if (!name.startsWith(values.row)) continue;
    const directory = await mkdtemp(join(tmpdir(), 'bolide-growth-'));
    try {
      let measured = '';
      for (const part of parts.keys()) measured = await inProcess(name, part, directory, scale);
      rows.push([name, goal, measured]);
      console.log(`${name}: ${measured}`);
    } finally {
      await rm(directory, { recursive: true });
    }
  }
  console.log(`\n${table(HEAD, rows)}`);
  if (values.save)
    await saveSection({
      title: 'Costs that must not grow with what is stored',
      intro: '`npm run bench:growth -- --save`: the embedded database (NeDB). CPU time unless another unit is named.',
      head: HEAD,
      keys: 1,
      rows,
    });
}

/** @returns what the part reports */
async function inProcess(name: string, part: number, directory: string, scale: number): Promise<string> {
  const child = fork(__filename, ['--child', name, String(part), directory, String(scale)]);
  let reported = '';
  child.on('message', (message) => (reported = typeof message === 'string' ? message : ''));
  const [code] = (await once(child, 'exit')) as [number | null];
  if (code !== 0) throw new Error(`The process that measured "${name}" ended with ${code}.`);
  return reported;
}

async function measure([name, part, directory, scale]: readonly string[]): Promise<void> {
  const row = GROWTH_ROWS.find((each) => each.name === name);
  const work = row?.parts[Number(part)];
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
