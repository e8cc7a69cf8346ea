/** When a run called its model: as the request log recorded it, and as events report what is not in the log yet. */
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { RequestView } from '../../business/ai/domain/types/RequestRecords';
import type { RunDetails } from '../data/DashboardData';

/** Milliseconds since the epoch. */
export interface TurnTimes {
  readonly start: number;
  /** Absent for a call in progress. */
  readonly end?: number;
  /** When the response's content began to arrive. */
  readonly firstToken?: number;
  /** When attempts failed that were followed by another one. */
  readonly failedAttempts?: readonly number[];
}

/**
 * @param events the turns whose times events have reported
 * @returns by the turn's number. A turn that another process repeated after a crash covers both of its calls.
 */
export function turnTimes(
  requests: readonly RequestView[],
  events: RunDetails['turns'],
): ReadonlyMap<number, TurnTimes> {
  const turns = new Map<number, TurnTimes>();
  for (const { iteration, at, duration, timeToFirstToken, attempts } of requests) {
    if (iteration === undefined) continue;
    const earlier = turns.get(iteration);
    const firstToken = timeToFirstToken === undefined ? earlier?.firstToken : at + timeToFirstToken;
    turns.set(iteration, {
      start: Math.min(earlier?.start ?? at, at),
      end: Math.max(earlier?.end ?? at, at + duration),
      failedAttempts: [...(earlier?.failedAttempts ?? []), ...attempts.map((attempt) => at + attempt.at)],
      ...omitUndefined({ firstToken }),
    });
  }
  for (const [turn, time] of events) if (!turns.has(turn)) turns.set(turn, time);
  return turns;
}
