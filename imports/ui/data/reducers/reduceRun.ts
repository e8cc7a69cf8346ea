/** All that a run's page shows, after one of the run's events. */
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { DeltaView, RunDetailView, ToolCallView } from '../../../business/ai/domain/types/RunViews';
import type { LogEntry, TurnTime, WatchedRun } from '../DashboardData';
import { reduceRunRecord } from './reduceRunRecord';
import { reduceToolCalls } from './reduceToolCalls';
import { sortCalls } from './sortCalls';
import { liveText } from './liveText';

/** What a page keeps of a run that it reads from the stream. */
export interface StreamedRun extends WatchedRun {
  /** The seq of the last event that it knows. */
  readonly seq: number;
}

export interface RunSnapshot {
  readonly run: RunDetailView;
  readonly toolCalls: readonly ToolCallView[];
  readonly deltas: readonly DeltaView[];
}

/** @param before what the page knows already: times and events, which a snapshot does not have */
export function fromSnapshot({ run, toolCalls, deltas }: RunSnapshot, before?: StreamedRun): StreamedRun {
  const items = readItems(run.transcript ?? run.input);
  return {
    run,
    items,
    calls: sortCalls(toolCalls, items),
    live: liveText(deltas, items, run.state),
    turns: before?.turns ?? new Map<number, TurnTime>(),
    log: before?.log ?? [],
    hashes: before?.hashes ?? new Map<string, string>(),
    seq: Math.max(0, ...deltas.map((delta) => delta.seq)),
  };
}

export function readItems(json: string | undefined): readonly Item[] {
  if (json === undefined) return [];
  try {
    const value: unknown = JSON.parse(json);
    // The server wrote the items of its own store.
    return Array.isArray(value) ? (value as Item[]) : [];
  } catch {
    return [];
  }
}

export function reduceRun(watched: StreamedRun, event: AgentEvent): StreamedRun {
  const next = {
    ...watched,
    run: reduceRunRecord(watched.run, event),
    calls: reduceToolCalls(watched.calls, event),
    log: withEntry(watched.log, event),
    seq: Math.max(watched.seq, event.seq),
  };
  // The text of a fetch is newer than the events before its last piece.
  const isNew = event.seq > watched.seq;
  switch (event.type) {
    case 'iteration:start':
      return {
        ...next,
        turns: withTurn(next.turns, event.iteration, { start: event.at }),
        ...(isNew ? { live: SILENT } : {}),
      };
    case 'llm:delta':
      return isNew ? { ...next, live: withDelta(next.live, event.kind, event.delta) } : next;
    case 'llm:response': {
      // The first call begins with its run; when another began that the page did not see, its calls tell better
      // than its end does.
      const start = next.turns.get(event.iteration)?.start ?? (event.iteration === 1 ? next.run.startedAt : undefined);
      const { output } = event.response;
      return {
        ...next,
        turns: start === undefined ? next.turns : withTurn(next.turns, event.iteration, { start, end: event.at }),
        ...(isNew ? { live: SILENT } : {}),
        items: isKnown(next.items, output) ? next.items : [...next.items, ...output],
      };
    }
    case 'tool:approval_required':
      return { ...next, hashes: new Map(next.hashes).set(event.callId, event.argumentsHash) };
    default:
      return next;
  }
}

/** A turn that is known to have ended does not begin again. */
function withTurn(turns: WatchedRun['turns'], turn: number, time: TurnTime): WatchedRun['turns'] {
  return turns.get(turn)?.end === undefined ? new Map(turns).set(turn, time) : turns;
}

const SILENT: WatchedRun['live'] = { text: '', reasoning: '' };

/** A page may fetch the transcript before it reads the event. */
function isKnown(items: readonly Item[], output: readonly Item[]): boolean {
  const last = JSON.stringify(output.at(-1));
  return items.slice(-output.length - 8).some((item) => JSON.stringify(item) === last);
}

/** Refusals are what the model says, too. */
function withDelta(live: WatchedRun['live'], kind: DeltaView['kind'], text: string): WatchedRun['live'] {
  return kind === 'reasoning' ? { ...live, reasoning: live.reasoning + text } : { ...live, text: live.text + text };
}

const LOG_LENGTH = 500;

/** Pieces of text and steps of progress are no entries: they are shown where they belong. */
function withEntry(log: readonly LogEntry[], event: AgentEvent): readonly LogEntry[] {
  if (event.type === 'llm:delta' || event.type === 'tool:progress') return log;
  const callId = 'callId' in event ? event.callId : undefined;
  if (log.some((entry) => entry.seq === event.seq)) return log;
  const detail = detailOf(event);
  const entry: LogEntry = {
    seq: event.seq,
    at: event.at,
    type: event.type,
    ...(callId === undefined ? {} : { callId }),
    ...('name' in event ? { name: event.name } : {}),
    ...(detail === undefined ? {} : { detail }),
  };
  return [...log, entry].slice(-LOG_LENGTH);
}

function detailOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'iteration:start':
      return `model call ${event.iteration}`;
    case 'llm:response':
      return `${event.response.usage.total_tokens} tokens`;
    case 'tool:failed':
    case 'tool:timeout':
    case 'tool:cancelled':
    case 'run:failed':
    case 'nonblocking:error':
      return event.error.message;
    case 'nonblocking:result':
    case 'nonblocking:llm_response':
      return event.callIds.length === 1 ? 'one result' : `${event.callIds.length} results`;
    default:
      return undefined;
  }
}
