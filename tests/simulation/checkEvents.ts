/** The order of a run's events, as docs/reference/events.md states it. */
import type { LocalAgentEvent } from '../../imports/business/ai/domain/types/AgentEvents';
import type { RunRecord } from '../../imports/business/ai/domain/types/RunRecords';
import { RUN_END_EVENTS } from '../../imports/business/ai/domain/types/AgentEvents';
import type { Observations, SeenEvent } from './Observations';

type CallEvent = Extract<LocalAgentEvent['type'], `tool:${string}`>;

/** What may follow an event of a call. A call that another process continues may begin with any of them. */
const FOLLOWING: Readonly<Partial<Record<CallEvent, readonly CallEvent[]>>> = {
  'tool:pending': ['tool:approval_required', 'tool:executing', 'tool:failed', 'tool:cancelled'],
  'tool:approval_required': ['tool:executing', 'tool:failed', 'tool:cancelled'],
  'tool:executing': ['tool:completed', 'tool:failed', 'tool:timeout', 'tool:cancelled', 'tool:needs_review'],
  'tool:needs_review': ['tool:executing', 'tool:completed', 'tool:failed', 'tool:cancelled'],
  'tool:completed': [],
  'tool:failed': [],
  'tool:timeout': ['tool:late'],
  'tool:cancelled': [],
  'tool:late': [],
};

/** @returns a line per broken promise */
export function checkEvents(seen: Observations, run: RunRecord): readonly string[] {
  const events = seen.eventsOf(run.executionId);
  return [...checkNumbers(events), ...checkEnds(events, run), ...sessionsOf(events).flatMap(checkSession)];
}

function checkNumbers(events: readonly SeenEvent[]): readonly string[] {
  const numbers = new Map<number, string>();
  return events.flatMap(({ event: { seq, type } }) => {
    const other = numbers.get(seq);
    numbers.set(seq, type);
    return other === undefined ? [] : [`${other} and ${type} both have the seq ${seq}`];
  });
}

function checkEnds(events: readonly SeenEvent[], run: RunRecord): readonly string[] {
  const ends = events.filter(({ event }) => RUN_END_EVENTS.has(event.type));
  const [end] = ends;
  if (end === undefined) return [];
  // A process that does not know yet that it has lost the run may still tell of it, under lower numbers.
  const later = events.find(({ event }) => event.seq > end.event.seq);
  return [
    ...(ends.length > 1 ? [`ended ${ends.length} times`] : []),
    ...(later === undefined ? [] : [`${later.event.type} follows ${end.event.type}`]),
    ...(end.event.type === `run:${run.state}` ? [] : [`${end.event.type} was emitted, but the run is ${run.state}`]),
  ];
}

/** The events of each process that executed the run, from one `run:started` to the next. */
function sessionsOf(events: readonly SeenEvent[]): readonly (readonly SeenEvent[])[] {
  const sessions: SeenEvent[][] = [];
  const current = new Map<string, SeenEvent[]>();
  for (const seen of events) {
    const session = seen.event.type === 'run:started' ? [] : (current.get(seen.process) ?? []);
    if (session.length === 0) sessions.push(session);
    session.push(seen);
    current.set(seen.process, session);
  }
  return sessions;
}

function checkSession(session: readonly SeenEvent[]): readonly string[] {
  const problems: string[] = [];
  const lastOfCall = new Map<string, CallEvent>();
  let isAsking = false;
  for (const [index, { event, process }] of session.entries()) {
    const previous = session[index - 1]?.event;
    const where = `in ${process}, ${event.type} (seq ${event.seq})`;
    if (previous === undefined) {
      if (event.type !== 'run:started' && event.type !== 'run:parked') problems.push(`${where} comes first`);
    } else if (event.seq !== previous.seq + 1) problems.push(`${where} follows seq ${previous.seq}`);
    if (event.type === 'llm:response' && !isAsking) problems.push(`${where} follows no iteration:start`);
    if (event.type === 'iteration:start' || event.type === 'llm:response') isAsking = event.type === 'iteration:start';
    if (!isCallEvent(event)) continue;
    const last = lastOfCall.get(event.callId);
    if (last !== undefined && FOLLOWING[last]?.includes(event.type) !== true)
      problems.push(`${where} of ${event.callId} follows ${last}`);
    lastOfCall.set(event.callId, event.type);
  }
  return problems;
}

function isCallEvent(event: LocalAgentEvent): event is Extract<LocalAgentEvent, { readonly type: CallEvent }> {
  return event.type.startsWith('tool:');
}
