/** Formats the measurements of `run.ts` as the sections of the results. */
import { OWN, REFERENCE } from './contenders';
import type { ContenderRow } from './contenders';
import type { Cost } from './measure';
import type { ResultsSection } from './resultsPage';
import { table } from './resultsPage';
import { median, spread } from './statistics';
import { WORKLOADS } from './workloads';
import type { BenchSection, BenchWire, Workload } from './workloads';

export interface Measured {
  readonly workload: Workload;
  readonly wire: BenchWire;
  /** By contender: one cost per round. */
  readonly costs: ReadonlyMap<string, readonly Cost[]>;
}

const RATIOS = `\`npm run bench\`: CPU time of the client process, relative to the official SDK used directly for the same work (1.00): the
median of interleaved rounds, with quartiles in parentheses. Lower is better.`;

const INTROS: Readonly<Record<BenchSection, string>> = {
  'Calls, streams and loops': `${RATIOS} \`${OWN}\` is bundled from the TypeScript sources, \`${OWN}-package\` is the built package.`,
  Import: `${RATIOS} The whole process counts, from its start to the first response. \`${OWN}\` is one bundled file,
\`${OWN}-package\` and \`${OWN}-esm\` are the built package as CommonJS and as ES modules, \`${OWN}-tsx\` is compiled while it is loaded.`,
  Growth: `\`npm run bench -- W9 --save\`: microseconds of CPU per turn of one run of 1,000 turns, medians of interleaved rounds. The SDK used directly sends the
whole conversation with every turn as well, so the difference is what Bolide adds.`,
  Memory: '`npm run bench -- W8 --save`: bytes per run that waits for a tool, median of the rounds.',
};

export function sectionsOf(
  measured: readonly Measured[],
  contenders: readonly ContenderRow[],
): readonly Omit<ResultsSection, 'versions'>[] {
  return (Object.keys(INTROS) as BenchSection[]).flatMap((title) => {
    const own = measured.filter(({ workload }) => workload.section === title);
    if (own.length === 0) return [];
    const shown = contenders.filter(({ id, sections }) => id !== REFERENCE && sections?.includes(title) !== false);
    const content =
      title === 'Growth'
        ? { head: GROWTH_HEAD, keys: 2, rows: own.flatMap(growthRows), order: GROWTH_ORDER }
        : {
            head: ['workload', 'wire', 'goal', ...shown.map(({ id }) => id)],
            keys: 2,
            rows: own.map((each) => [
              `${each.workload.id} ${each.workload.title}`,
              each.wire,
              goalOf(each),
              ...shown.map(({ id }) => cell(each, id)),
            ]),
            order: WORKLOADS.map(({ id }) => `${id} `),
          };
    const rounds = Math.max(...own.flatMap(({ costs }) => [...costs.values()].map((each) => each.length)));
    return [{ title, intro: INTROS[title], ...content, rounds }];
  });
}

/** Bolide's cost relative to that of another checkout, round by round. */
export function comparisonTable(measured: readonly Measured[], other: string): string {
  const rows = measured.map((each) => [
    `${each.workload.id} ${each.workload.title}`,
    each.wire,
    spread(ratiosOf(each, OWN, other)),
  ]);
  return table(['workload', 'wire', `${OWN} relative to ${other}`], rows);
}

/** @returns the missed goals, such as `W3 openai: 0.72, goal ≤ 0.50` */
export function missedGoals(measured: readonly Measured[]): string[] {
  return measured.flatMap((each) => {
    const own = each.costs.get(OWN) ?? [];
    const maximum = maximumOf(each);
    if (maximum === undefined || own.length === 0) return [];
    const reached =
      each.workload.needs === 'idle' ? median(own.map(({ each: bytes }) => bytes)) : median(ratiosOf(each, OWN));
    return reached <= maximum
      ? []
      : [`${each.workload.id} ${each.wire}: ${format(each, reached)}, goal ${goalOf(each)}`];
  });
}

function maximumOf({ workload: { goal }, wire }: Measured): number | undefined {
  return typeof goal === 'object' ? goal[wire === 'anthropic' ? 1 : 0] : goal;
}

function goalOf(measured: Measured): string {
  const maximum = maximumOf(measured);
  return maximum === undefined ? '–' : `≤ ${format(measured, maximum)}`;
}

function format({ workload: { needs } }: Measured, value: number): string {
  return needs === 'idle' ? `${(value / 1024).toFixed(1)} KB` : value.toFixed(2);
}

function cell(measured: Measured, id: string): string {
  const own = measured.costs.get(id)?.map(({ each }) => each) ?? [];
  if (own.length === 0) return '–';
  return measured.workload.needs === 'idle' ? format(measured, median(own)) : spread(ratiosOf(measured, id));
}

function ratiosOf({ costs }: Measured, id: string, reference = REFERENCE): number[] {
  const theirs = costs.get(reference) ?? [];
  return (costs.get(id) ?? []).map(({ each }, round) => each / (theirs[round]?.each ?? NaN));
}

const GROWTH_HEAD = ['turn', 'wire', REFERENCE, OWN, 'added'];
const GROWTH_ORDER = WORKLOADS.flatMap(({ marks = [] }) => marks.map(({ title }) => title));

function growthRows({ workload: { marks = [] }, wire, costs }: Measured): string[][] {
  return marks.map(({ title }, index) => {
    const cost = (id: string): number => median((costs.get(id) ?? []).map(({ marks: own = [] }) => own[index] ?? NaN));
    return [title, wire, ...[cost(REFERENCE), cost(OWN), cost(OWN) - cost(REFERENCE)].map((value) => value.toFixed(0))];
  });
}
