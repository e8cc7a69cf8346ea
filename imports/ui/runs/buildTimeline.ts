/**
 * When the model and the tools worked, as bars on one axis. Turns whose time no event told are placed by the calls
 * around them.
 */
import { isFinished } from '../../business/ai/domain/entities/Run';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { TurnTime, WatchedRun } from '../data/DashboardData';

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
  readonly background: readonly CallBar[];
}

/** @param now milliseconds since the epoch: where things end that go on */
export function buildTimeline(
  { run, items, calls, turns }: Pick<WatchedRun, 'run' | 'items' | 'calls' | 'turns'>,
  now: number,
): Timeline {
  const start = run.startedAt ?? run.createdAt;
  const isOver = isFinished(run.state);
  const end = Math.max(run.endedAt ?? (isOver ? lastTime(calls, start) : now), start + 1);
  const bars = calls.map((call) => barOf(call, start, end, turnOfCall(items, call.callId), turns));
  const told = [
    ...guessTurns(items, calls, start, end, run),
    ...[...turns].map(([turn, time]) => [turn, time] as const),
  ];
  const byTurn = new Map(told);
  return {
    start,
    end,
    turns: [...byTurn]
      .sort(([a], [b]) => a - b)
      .map(([turn, time]) => ({
        turn,
        start: Math.max(start, time.start),
        end: Math.min(end, time.end ?? end),
        isLive: time.end === undefined && !isOver,
      })),
    blocking: bars.filter(({ call }) => call.blocking),
    background: bars.filter(({ call }) => !call.blocking),
  };
}

function barOf(
  call: ToolCallView,
  start: number,
  end: number,
  turn: number | undefined,
  turns: WatchedRun['turns'],
): CallBar {
  // A call that has not started began to wait when its turn ended.
  const from = call.startTime ?? call.endTime ?? (turn === undefined ? undefined : turns.get(turn)?.end) ?? end;
  return { call, start: Math.max(start, from), end: Math.min(end, call.endTime ?? end) };
}

function turnOfCall(items: readonly Item[], callId: string): number | undefined {
  const index = turnsIn(items).findIndex((turn) => turn.calls.includes(callId));
  return index === -1 ? undefined : index + 1;
}

interface WrittenTurn {
  readonly calls: readonly string[];
  /** Calls whose results the model was told before it. */
  readonly told: readonly string[];
}

/** Each stretch of items that the model wrote is a turn. */
export function turnsIn(items: readonly Item[]): readonly WrittenTurn[] {
  const turns: { calls: string[]; told: string[] }[] = [];
  let told: string[] = [];
  let isWriting = false;
  for (const item of items) {
    const isModel =
      item.type === 'function_call' ||
      item.type === 'reasoning' ||
      (item.type === 'message' && item.role === 'assistant');
    if (isModel && !isWriting) turns.push({ calls: [], told });
    if (isModel) told = [];
    isWriting = isModel;
    if (item.type === 'function_call') turns.at(-1)?.calls.push(item.call_id);
    if (item.type === 'function_call_output' && item.status !== 'in_progress') told.push(item.call_id);
  }
  return turns;
}

function guessTurns(
  items: readonly Item[],
  calls: readonly ToolCallView[],
  start: number,
  end: number,
  run: WatchedRun['run'],
): (readonly [number, TurnTime])[] {
  const byId = new Map(calls.map((call) => [call.callId, call]));
  const timesOf = (ids: readonly string[], pick: (call: ToolCallView) => number | undefined): number[] =>
    ids.flatMap((id) => {
      const call = byId.get(id);
      const time = call === undefined ? undefined : pick(call);
      return time === undefined ? [] : [time];
    });
  const written = turnsIn(items);
  // Input that was said in an earlier conversation has turns of the model, too.
  const own = written.slice(-Math.max(run.iterations, 0));
  let from = start;
  return run.iterations === 0
    ? []
    : own.map((turn, index) => {
        const begin = Math.max(from, ...timesOf(turn.told, ({ endTime }) => endTime));
        const starts = timesOf(turn.calls, ({ startTime }) => startTime);
        const next = own[index + 1];
        const until =
          starts.length > 0
            ? Math.min(...starts)
            : next === undefined
              ? (run.endedAt ?? end)
              : Math.min(end, ...timesOf(next.told, ({ endTime }) => endTime));
        const time = { start: begin, end: Math.max(begin, until) };
        from = time.end;
        return [index + 1, time] as const;
      });
}

function lastTime(calls: readonly ToolCallView[], start: number): number {
  return Math.max(start, ...calls.map((call) => call.endTime ?? call.startTime ?? start));
}

/** Round places for the axis: milliseconds since its start. */
export function ticksOf({ start, end }: Bar, most = 5): readonly number[] {
  const span = end - start;
  const step = STEPS.find((candidate) => span / candidate <= most) ?? Math.ceil(span / most / 3_600_000) * 3_600_000;
  return Array.from({ length: Math.floor(span / step) + 1 }, (_, index) => index * step);
}

const STEPS = [
  1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000, 15_000, 30_000, 60_000, 120_000, 300_000, 600_000,
  1_800_000, 3_600_000,
] as const;
