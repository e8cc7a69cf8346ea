/**
 * Arranges the turns and tool calls of a run as bars on one time axis. Turns whose times no event reported are
 * estimated from the calls around them.
 */
import { isFinished } from '../../business/ai/domain/entities/Run';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { RunDetails, TurnTime } from '../data/DashboardData';
import { splitTurns } from './splitTurns';

/** Milliseconds since the epoch. */
export interface Bar {
  readonly start: number;
  readonly end: number;
}

export interface TurnBar extends Bar {
  /** From 1. */
  readonly turn: number;
  readonly isLive: boolean;
}

export interface CallBar extends Bar {
  readonly call: ToolCallView;
}

export interface Timeline extends Bar {
  readonly turns: readonly TurnBar[];
  readonly blocking: readonly CallBar[];
  readonly nonBlocking: readonly CallBar[];
}

/** @param now milliseconds since the epoch, the end of every bar that is still active */
export function buildTimeline(
  { run, items, calls, turns }: Pick<RunDetails, 'run' | 'items' | 'calls' | 'turns'>,
  now: number,
): Timeline {
  const start = run.startedAt ?? run.createdAt;
  const isOver = isFinished(run.state);
  const end = Math.max(run.endedAt ?? (isOver ? lastCallTime(calls, start) : now), start + 1);
  const bars = calls.map((call) => toCallBar(call, start, end, turnOfCall(items, call.callId), turns));
  // Reported times replace estimates.
  const times = new Map([...estimateTurns(items, calls, start, end, run), ...turns]);
  return {
    start,
    end,
    turns: [...times]
      .sort(([a], [b]) => a - b)
      .map(([turn, time]) => ({
        turn,
        start: Math.max(start, time.start),
        end: Math.min(end, time.end ?? end),
        isLive: time.end === undefined && !isOver,
      })),
    blocking: bars.filter(({ call }) => call.blocking),
    nonBlocking: bars.filter(({ call }) => !call.blocking),
  };
}

function toCallBar(
  call: ToolCallView,
  start: number,
  end: number,
  turn: number | undefined,
  turns: RunDetails['turns'],
): CallBar {
  // A call that has not started yet has been waiting since the end of its turn.
  const from = call.startTime ?? call.endTime ?? (turn === undefined ? undefined : turns.get(turn)?.end) ?? end;
  return { call, start: Math.max(start, from), end: Math.min(end, call.endTime ?? end) };
}

function turnOfCall(items: readonly Item[], callId: string): number | undefined {
  const index = splitTurns(items).findIndex((turn) => turn.callIds.includes(callId));
  return index === -1 ? undefined : index + 1;
}

function estimateTurns(
  items: readonly Item[],
  calls: readonly ToolCallView[],
  start: number,
  end: number,
  run: RunDetails['run'],
): (readonly [number, TurnTime])[] {
  if (run.iterations === 0) return [];
  const byId = new Map(calls.map((call) => [call.callId, call]));
  const timesOf = (ids: readonly string[], pick: (call: ToolCallView) => number | undefined): number[] =>
    ids.flatMap((id) => {
      const call = byId.get(id);
      const time = call === undefined ? undefined : pick(call);
      return time === undefined ? [] : [time];
    });
  // The input may contain turns of an earlier conversation.
  const ownTurns = splitTurns(items).slice(-Math.max(run.iterations, 0));
  let previousEnd = start;
  return ownTurns.map((turn, index) => {
    const from = Math.max(previousEnd, ...timesOf(turn.receivedResults, ({ endTime }) => endTime));
    const callStarts = timesOf(turn.callIds, ({ startTime }) => startTime);
    const next = ownTurns[index + 1];
    const until =
      callStarts.length > 0
        ? Math.min(...callStarts)
        : next === undefined
          ? (run.endedAt ?? end)
          : Math.min(end, ...timesOf(next.receivedResults, ({ endTime }) => endTime));
    const time = { start: from, end: Math.max(from, until) };
    previousEnd = time.end;
    return [index + 1, time] as const;
  });
}

function lastCallTime(calls: readonly ToolCallView[], start: number): number {
  return Math.max(start, ...calls.map((call) => call.endTime ?? call.startTime ?? start));
}
