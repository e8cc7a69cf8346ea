/** The turns of a run with their model calls and times, for the list of turns. */
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import type { TurnTimes } from './turnTimes';

export interface TurnRecord {
  /** From 1. */
  readonly turn: number;
  readonly times: TurnTimes | undefined;
  /** The model calls of the turn, oldest first: more than one if another process repeated it. */
  readonly requests: readonly RequestView[];
}

export function turnRecords(
  iterations: number,
  requests: readonly RequestView[],
  times: ReadonlyMap<number, TurnTimes>,
): readonly TurnRecord[] {
  const count = Math.max(iterations, ...times.keys(), 0);
  return Array.from({ length: count }, (_, index) => ({
    turn: index + 1,
    times: times.get(index + 1),
    requests: requests.filter(({ iteration }) => iteration === index + 1).sort((a, b) => a.at - b.at),
  }));
}
