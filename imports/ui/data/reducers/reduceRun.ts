/** Everything that a run's page shows, after one of the run's events. */
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import { isDelta } from '../../../business/ai/domain/types/AgentEvents';
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { DeltaView } from '../../../business/ai/domain/types/RunViews';
import { pluralize } from '../../format/format';
import type { LiveText, LogEntry, RunDetails, TurnTime } from '../DashboardData';
import { reduceRunRecord } from './reduceRunRecord';
import { reduceToolCalls } from './reduceToolCalls';

/** The details of a run that are maintained from the event stream. */
export interface StreamedRun extends RunDetails {
  /** The sequence number of the last event that is included. */
  readonly seq: number;
}

export function reduceRun(details: StreamedRun, event: AgentEvent): StreamedRun {
  const next = {
    ...details,
    run: reduceRunRecord(details.run, event),
    calls: reduceToolCalls(details.calls, event),
    log: withEntry(details.log, event),
    seq: Math.max(details.seq, event.seq),
  };
  // A fetched text already includes every event up to its last delta.
  const isNew = event.seq > details.seq;
  switch (event.type) {
    case 'iteration:start':
      return {
        ...next,
        turns: withTurn(next.turns, event.iteration, { start: event.at }),
        ...(isNew ? { liveText: NO_TEXT } : {}),
      };
    case 'llm:delta':
      return isNew ? { ...next, liveText: withDelta(next.liveText, event.kind, event.delta) } : next;
    case 'llm:response': {
      // The first model call starts with its run. The start of any other that the page did not see is estimated
      // better from its calls than from its end.
      const start = next.turns.get(event.iteration)?.start ?? (event.iteration === 1 ? next.run.startedAt : undefined);
      const { output } = event.response;
      return {
        ...next,
        turns: start === undefined ? next.turns : withTurn(next.turns, event.iteration, { start, end: event.at }),
        ...(isNew ? { liveText: NO_TEXT } : {}),
        items: includesOutput(next.items, output) ? next.items : [...next.items, ...output],
      };
    }
    case 'llm:interrupted':
      return {
        ...next,
        ...(isNew ? { liveText: NO_TEXT } : {}),
        items: event.item === undefined ? next.items : withItem(next.items, event.item),
      };
    case 'message:delivered':
      return { ...next, items: withItem(next.items, event.item) };
    case 'tool:approval_required':
      return { ...next, argumentHashes: new Map(next.argumentHashes).set(event.callId, event.argumentsHash) };
    default:
      return next;
  }
}

/** A turn whose end is known does not start again. */
function withTurn(turns: RunDetails['turns'], turn: number, time: TurnTime): RunDetails['turns'] {
  return turns.get(turn)?.end === undefined ? new Map(turns).set(turn, time) : turns;
}

const NO_TEXT: LiveText = { text: '', reasoning: '' };

function withItem(items: readonly Item[], item: Item): readonly Item[] {
  return includesOutput(items, [item]) ? items : [...items, item];
}

/** A page may have fetched the transcript before it reads the event. */
function includesOutput(items: readonly Item[], output: readonly Item[]): boolean {
  const last = JSON.stringify(output.at(-1));
  return items.slice(-output.length - 8).some((item) => JSON.stringify(item) === last);
}

/** Refusals count as text. */
function withDelta(live: LiveText, kind: DeltaView['kind'], text: string): LiveText {
  return kind === 'reasoning' ? { ...live, reasoning: live.reasoning + text } : { ...live, text: live.text + text };
}

const MAX_LOG_ENTRIES = 5_000;

/** Deltas and progress are not logged: the conversation and the calls show them. */
function withEntry(log: readonly LogEntry[], event: AgentEvent): readonly LogEntry[] {
  if (isDelta(event) || event.type === 'tool:progress') return log;
  const callId = 'callId' in event ? event.callId : undefined;
  // Events that are read again come right after the fetch, and are among the last.
  if (log.findLast((entry) => entry.seq === event.seq) !== undefined) return log;
  const detail = detailOf(event);
  const entry: LogEntry = omitUndefined({
    seq: event.seq,
    at: event.at,
    type: event.type,
    callId,
    turn: 'iteration' in event ? event.iteration : undefined,
    name: 'name' in event ? event.name : undefined,
    detail,
    data: event,
  });
  return [...log, entry].slice(-MAX_LOG_ENTRIES);
}

function detailOf(event: AgentEvent): string | undefined {
  switch (event.type) {
    case 'iteration:start':
      return `turn ${event.iteration}`;
    case 'llm:retry':
      return `${event.providerId}: ${event.reason}`;
    case 'llm:response':
      return pluralize(event.response.usage.total_tokens, 'token');
    case 'tool:failed':
    case 'tool:timeout':
    case 'tool:cancelled':
    case 'run:failed':
    case 'nonblocking:error':
      return event.error.message;
    case 'nonblocking:result':
    case 'nonblocking:llm_response':
      return pluralize(event.callIds.length, 'result');
    default:
      return undefined;
  }
}
