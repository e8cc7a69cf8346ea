/**
 * Arranges the turns and tool calls of a run as bars on one time axis. Turns whose times neither the request log nor an
 * event has are estimated from the calls around them.
 */
import { isFinished } from '../../business/ai/domain/entities/Run';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { RunDetails } from '../data/DashboardData';
import { callSegments } from './callSegments';
import type { CallSegment, SegmentKind } from './callSegments';
import { splitTurns } from './splitTurns';
import type { TurnTimes } from './turnTimes';

/** Milliseconds since the epoch. */
export interface Bar {
  readonly start: number;
  readonly end: number;
}

export interface TurnBar extends Bar {
  /** From 1. */
  readonly turn: number;
  readonly isLive: boolean;
  readonly isEstimated: boolean;
  readonly firstToken?: number;
  readonly failedAttempts: readonly number[];
}

export interface CallBar extends Bar {
  readonly call: ToolCallView;
  readonly segments: readonly CallSegment[];
}

/** Milliseconds of the run's time by what it did. Several activities at the same time count as the first of these. */
export interface TimelineTotals {
  readonly model: number;
  readonly tools: number;
  readonly waiting: number;
  readonly other: number;
}

export interface Timeline extends Bar {
  readonly turns: readonly TurnBar[];
  readonly blocking: readonly CallBar[];
  readonly nonBlocking: readonly CallBar[];
  /** While neither the model nor a tool was at work, and a call waited for someone. */
  readonly waits: readonly CallSegment[];
  readonly totals: TimelineTotals;
}

export interface TimelineInput extends Pick<RunDetails, 'run' | 'items' | 'calls'> {
  readonly turns: ReadonlyMap<number, TurnTimes>;
  /** Names of the tools whose results another service supplies. */
  readonly externalTools?: ReadonlySet<string>;
}

/** @param now milliseconds since the epoch, the end of every bar that is still active */
export function buildTimeline(input: TimelineInput, now: number): Timeline {
  const { run, items, calls, turns: known, externalTools } = input;
  const start = run.startedAt ?? run.createdAt;
  const isOver = isFinished(run.state);
  const end = Math.max(run.endedAt ?? (isOver ? lastCallTime(calls, start) : now), start + 1);
  const clamp = (time: number): number => Math.min(end, Math.max(start, time));
  const turnOfCall = turnsOfCalls(items, run.iterations);
  const bars = calls.map((call): CallBar => {
    const segments = callSegments(call, {
      requestedAt: known.get(turnOfCall.get(call.callId) ?? 0)?.end,
      end,
      isExternal: externalTools?.has(call.name) === true,
    }).map((segment) => ({ ...segment, start: clamp(segment.start), end: clamp(segment.end) }));
    const at = clamp(call.startTime ?? call.endTime ?? end);
    return { call, segments, start: segments[0]?.start ?? at, end: segments.at(-1)?.end ?? at };
  });
  const estimated = new Map(estimateTurns(items, calls, start, end, run));
  const turns = [...new Map<number, TurnTimes>([...estimated, ...known])]
    .sort(([a], [b]) => a - b)
    .map(([turn, time]): TurnBar => ({
      turn,
      start: clamp(time.start),
      end: clamp(time.end ?? end),
      isLive: time.end === undefined && !isOver,
      isEstimated: !known.has(turn),
      failedAttempts: (time.failedAttempts ?? []).map(clamp),
      ...omitUndefined({ firstToken: time.firstToken === undefined ? undefined : clamp(time.firstToken) }),
    }));
  return {
    start,
    end,
    turns,
    blocking: bars.filter(({ call }) => call.blocking),
    nonBlocking: bars.filter(({ call }) => !call.blocking),
    ...sumUp({ start, end }, turns, bars),
  };
}

/** Splits the run's time at every start and end, and finds out what went on in each piece. */
function sumUp(run: Bar, turns: readonly Bar[], calls: readonly CallBar[]): Pick<Timeline, 'waits' | 'totals'> {
  const segments = calls.flatMap((bar) => bar.segments);
  const times = [run, ...turns, ...segments].flatMap((bar) => [bar.start, bar.end]);
  const cuts = [...new Set(times)].sort((a, b) => a - b);
  const totals = { model: 0, tools: 0, waiting: 0, other: 0 };
  const waits: CallSegment[] = [];
  for (const [index, start] of cuts.entries()) {
    const end = cuts[index + 1];
    if (end === undefined) break;
    const covers = (bar: Bar): boolean => bar.start <= start && bar.end >= end;
    const active = segments.filter(covers);
    if (turns.some(covers)) totals.model += end - start;
    else if (active.some(({ kind }) => kind === 'executing')) totals.tools += end - start;
    else {
      const kind = WAITS.find((candidate) => active.some((segment) => segment.kind === candidate));
      totals[kind === undefined ? 'other' : 'waiting'] += end - start;
      const last = waits.at(-1);
      if (kind === undefined) continue;
      if (last?.kind === kind && last.end === start) waits[waits.length - 1] = { ...last, end };
      else waits.push({ kind, start, end });
    }
  }
  return { waits, totals };
}

/** In the order in which they are named where several calls wait. */
const WAITS: readonly SegmentKind[] = ['approval', 'review', 'external'];

/** The number of the turn that requested each call. */
function turnsOfCalls(items: readonly Item[], iterations: number): ReadonlyMap<string, number> {
  const turns = splitTurns(items).slice(-Math.max(iterations, 1));
  return new Map(turns.flatMap(({ callIds }, index) => callIds.map((callId) => [callId, index + 1] as const)));
}

function estimateTurns(
  items: readonly Item[],
  calls: readonly ToolCallView[],
  start: number,
  end: number,
  run: RunDetails['run'],
): (readonly [number, TurnTimes])[] {
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
    const callStarts = timesOf(turn.callIds, ({ createdAt, startTime }) => createdAt ?? startTime);
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
  return calls.reduce((last, call) => Math.max(last, call.endTime ?? call.startTime ?? start), start);
}
