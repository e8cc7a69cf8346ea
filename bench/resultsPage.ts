/**
 * `RESULTS.md`, one section per runner. A runner replaces the rows that it measured, and leaves the others and other
 * sections as they are.
 */
import { readFile, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';

export interface ResultsSection {
  readonly title: string;
  /** What the figures mean, in one paragraph without a line that starts with `|`. */
  readonly intro: string;
  /** The names of the columns. */
  readonly head: readonly string[];
  /** How many of the first columns identify a row. */
  readonly keys: number;
  readonly rows: readonly (readonly string[])[];
  /** The order of the rows by their first cells, of which only the beginning need be given. Default: as they come. */
  readonly order?: readonly string[];
  /** The versions of packages that matter here. */
  readonly versions?: readonly string[];
  /** Default: the column is left out. */
  readonly rounds?: number;
}

const PAGE = path.join(__dirname, 'RESULTS.md');
const MEASURED = 'measured';

export async function saveSection(section: ResultsSection): Promise<void> {
  const page = await readFile(PAGE, 'utf8');
  await writeFile(PAGE, withSection(page, section));
}

/** @returns the page with the section's rows replaced or added */
export function withSection(page: string, section: ResultsSection, measured = describeRun(section.rounds)): string {
  const [start = '', ...parts] = page.split(/^(?=## )/m);
  const heading = `## ${section.title}\n`;
  const index = parts.findIndex((part) => part.startsWith(heading));
  const text = `${heading}\n${body(section, index === -1 ? '' : (parts[index] ?? ''), measured)}`;
  const sections = index === -1 ? [...parts, text] : parts.with(index, text);
  return `${[start, ...sections].map((part) => part.trimEnd()).join('\n\n')}\n`;
}

function body(section: ResultsSection, saved: string, measured: string): string {
  const { intro, keys, order = [] } = section;
  const head = [...section.head, MEASURED];
  const keyOf = (cells: readonly string[]): string => cells.slice(0, keys).join(' | ');
  const rows = new Map(tableOf(saved, head).map((cells) => [keyOf(cells), cells]));
  for (const cells of section.rows) rows.set(keyOf(cells), [...cells, measured]);
  const rank = (cells: readonly string[]): number => {
    const found = order.findIndex((beginning) => cells[0]?.startsWith(beginning));
    return found === -1 ? order.length : found;
  };
  const sorted = [...rows.values()].toSorted((a, b) => rank(a) - rank(b));
  const machine = [describeMachine(), ...(section.versions ?? [])].join('; ');
  return `${intro}\n\n${table(head, sorted)}\n\nMachine: ${machine}.\n`;
}

/** @returns the rows of the saved table in the order of `head`; what it has no column for is `–` */
function tableOf(saved: string, head: readonly string[]): string[][] {
  const [first = [], , ...rows] = saved
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) => line.slice(2, -2).split(' | '));
  return rows.map((cells) => head.map((name) => cells[first.indexOf(name)] ?? '–'));
}

export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function describeRun(rounds: number | undefined): string {
  const [busy = 0] = os.loadavg();
  return [
    new Date().toISOString().slice(0, 10),
    `Node ${process.versions.node}`,
    ...(rounds === undefined ? [] : [`${rounds} rounds`]),
    `load ${busy.toFixed(1)}`,
  ].join(', ');
}

function describeMachine(): string {
  const [cpu] = os.cpus();
  return `${os.cpus().length} × ${cpu?.model ?? 'unknown'}, ${os.type()} ${os.release()}`;
}
