/** Decides from the ratios of two checkouts' costs whether one has become slower, or has to be measured again. */
import { median, quantile } from '../statistics';

/** The ratio from which on a workload has become slower. */
export const SLOWER = 1.08;
/** Batches without which nothing is decided: a process may compile one of the checkouts better by chance. */
const MIN_BATCHES = 2;
/** Batches without which no workload fails. */
const MIN_FAILING = 3;
/** Batches after which the median decides. */
const MAX_BATCHES = 6;
/** Standard deviations of a normal distribution that have 99 % of it between them. */
const DEVIATIONS = 2.58;

export type Verdict = 'same' | 'slower' | 'unclear';

/** Each batch is one process's ratios of the costs of this checkout to those of the base. */
export type Batches = readonly (readonly number[])[];

export function verdictOf(batches: Batches): Verdict {
  if (batches.length < MIN_BATCHES) return 'unclear';
  const [low, high] = intervalOf(batches.flat());
  if (high < SLOWER) return 'same';
  if (batches.length >= MIN_FAILING && low >= SLOWER) return 'slower';
  if (batches.length < MAX_BATCHES) return 'unclear';
  return median(batches.flat()) < SLOWER ? 'same' : 'slower';
}

/** Bounds between which the median of all possible ratios is, with a probability of 99 %. */
export function intervalOf(ratios: readonly number[]): readonly [number, number] {
  const width = DEVIATIONS / 2 / Math.sqrt(ratios.length);
  return [quantile(ratios, Math.max(0, 0.5 - width)), quantile(ratios, Math.min(1, 0.5 + width))];
}
