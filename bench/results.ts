/** Formats the measurements as a table of ratios and as the results page. */
import os from 'node:os';
import { OWN, REFERENCE } from './contenders';
import type { ContenderRow } from './contenders';
import type { Cost } from './measure';
import type { BenchWire, Workload } from './workloads';

export interface Measured {
  readonly workload: Workload;
  readonly wire: BenchWire;
  /** By contender: one cost per round. */
  readonly costs: ReadonlyMap<string, readonly Cost[]>;
}

export function resultsTable(measured: readonly Measured[], contenders: readonly ContenderRow[]): string {
  const shown = contenders.filter(({ id }) => id !== REFERENCE);
  const head = ['workload', 'wire', 'goal', ...shown.map(({ id }) => id)];
  const rows = measured.map((each) => [
    `${each.workload.id} ${each.workload.title}`,
    each.wire,
    goalOf(each),
    ...shown.map(({ id }) => cell(each, id)),
  ]);
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

export function resultsPage(
  measured: readonly Measured[],
  contenders: readonly ContenderRow[],
  machine: string,
): string {
  const rounds = Math.max(...measured.flatMap(({ costs }) => [...costs.values()].map((each) => each.length)));
  return `# Results

CPU time of the client process, relative to the official SDK used directly for the same work (1.00): the median of ${rounds} interleaved rounds, with quartiles in parentheses.
Lower is better. W8 is memory. \`npm run bench\` writes this page; \`npm install --prefix bench\` installs the peers.

${resultsTable(measured, contenders)}

${growth(measured, contenders)}
## Machine

${machine}
`;
}

export function describeMachine(versions: readonly string[]): string {
  const [cpu] = os.cpus();
  const [busy = 0] = os.loadavg();
  return `Node ${process.version}, ${os.cpus().length} × ${cpu?.model ?? 'unknown'}, ${os.type()} ${os.release()}, load ${busy.toFixed(1)} at the start; ${versions.join(', ')}.\n`;
}

function goalOf({ workload: { goal, needs }, wire }: Measured): string {
  const maximum = typeof goal === 'number' ? goal : goal[wire === 'anthropic' ? 1 : 0];
  return needs === 'idle' ? `≤ ${kilobytes(maximum)}` : `≤ ${maximum.toFixed(2)}`;
}

/** Bolide's cost relative to that of another checkout, round by round. */
export function comparisonTable(measured: readonly Measured[], other: string): string {
  const rows = measured.map((each) => {
    const theirs = each.costs.get(other) ?? [];
    const ratios = (each.costs.get(OWN) ?? []).map(({ each: cost }, round) => cost / (theirs[round]?.each ?? NaN));
    return [`${each.workload.id} ${each.workload.title}`, each.wire, spread(ratios)];
  });
  const head = ['workload', 'wire', `${OWN} relative to ${other}`];
  return [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function cell({ workload: { needs }, costs }: Measured, id: string): string {
  const own = costs.get(id)?.map(({ each }) => each) ?? [];
  if (own.length === 0) return '–';
  if (needs === 'idle') return kilobytes(quantile(own, 0.5));
  const reference = costs.get(REFERENCE)?.map(({ each }) => each) ?? [];
  const ratios = own.map((cost, round) => cost / (reference[round] ?? NaN));
  return spread(ratios);
}

function spread(ratios: readonly number[]): string {
  const [low, middle, high] = [0.25, 0.5, 0.75].map((share) => quantile(ratios, share).toFixed(2));
  return `**${middle}** (${low}–${high})`;
}

/** The cost of a turn in the long loop relative to a turn in the short one. */
function growth(measured: readonly Measured[], contenders: readonly ContenderRow[]): string {
  const perTurn = (id: string, wire: BenchWire, contender: string): number => {
    const found = measured.find((each) => each.workload.id === id && each.wire === wire);
    return (
      quantile(found?.costs.get(contender)?.map(({ each }) => each) ?? [], 0.5) / ((found?.workload.turns ?? 0) + 1)
    );
  };
  const ratiosByContender = contenders.flatMap(({ id }) => {
    const ratios = (['openai', 'anthropic'] as const).map((wire) => perTurn('W5', wire, id) / perTurn('W5s', wire, id));
    return ratios.some(Number.isNaN) ? [] : [`${id} ×${ratios.map((ratio) => ratio.toFixed(2)).join(' / ×')}`];
  });
  return ratiosByContender.length === 0
    ? ''
    : `The cost of a turn in the loop of 50 relative to a turn in the loop of 5 (OpenAI / Anthropic): ${ratiosByContender.join(', ')}.\n`;
}

function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const low = sorted[Math.floor(position)] ?? NaN;
  const high = sorted[Math.ceil(position)] ?? NaN;
  return low + (high - low) * (position - Math.floor(position));
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(1)} KB`;
}
