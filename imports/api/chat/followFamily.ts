/**
 * The events of a run and, between them, those of the runs that its calls have started, and so on. What a run below has
 * done comes before the event with which its call settles, also where all of it is over.
 */
import type { AgentEvent, CallStep, FamilyEvent } from '../../business/ai/domain/types/AgentEvents';
import { childId, MAX_RUN_DEPTH } from '../../business/ai/application/services/shared/childId';
import { areWaiting } from '../../business/ai/domain/run/runLimits';
import type { ProgressBelow } from '../../business/ai/domain/run/runLimits';
import { callOfRunId } from '../../business/ai/domain/entities/callOfRun';
import { followRun } from './followRun';
import type { FollowRunOptions, FollowRunPorts } from './followRun';
import type { OpenCalls } from './OpenCalls';
import { startsRun } from './serverTools';

/** How many runs are caught up with at a time. Further ones follow once nothing more is known of some of these. */
export const MAX_FOLLOWED = 100;

interface Source {
  readonly executionId: string;
  readonly path: readonly CallStep[];
  readonly events: AsyncGenerator<AgentEvent, void, undefined>;
  /** Fires when the call that started the run has settled. */
  readonly over: AbortController;
  /** Runs that its calls have started, by call. */
  readonly below: Map<string, Source>;
  hasBegun: boolean;
  hasEnded: boolean;
  /** The run's calls, while all of its events so far have been read. */
  idle?: OpenCalls | undefined;
  /** Continues the run above, whose next event waits. */
  onEnd?: () => void;
}

type Arrival =
  | { readonly source: Source; readonly result: IteratorResult<AgentEvent, void> }
  | { readonly source: Source; readonly error: unknown }
  | { readonly source: Source; readonly idle: OpenCalls };

export interface FollowFamilyOptions extends Omit<FollowRunOptions, 'onIdle' | 'isBelow'> {
  /** What was decided just now of the calls of the run and those below it: see `answeredIdOf` and `callOfRunId`. */
  readonly decided?: ReadonlySet<string> | undefined;
}

/**
 * Ends with the run or, without `over`, as soon as it and those below it can continue only after people have decided
 * about their calls. Costs nothing without tools that start runs.
 * @throws as `followRun` does
 */
export function followFamily(
  ports: FollowRunPorts,
  executionId: string,
  options: FollowFamilyOptions,
): AsyncGenerator<FamilyEvent, void, undefined> {
  return startsRun(ports.tools)
    ? merged(ports, executionId, options)
    : followRun(ports, executionId, { ...options, decided: decidedIn(executionId, options.decided) });
}

/** Reads one event of each run ahead, so that the client's pace stays that of all of them. */
async function* merged(
  ports: FollowRunPorts,
  executionId: string,
  options: FollowFamilyOptions,
): AsyncGenerator<FamilyEvent, void, undefined> {
  const stopped = new AbortController();
  const signal = AbortSignal.any([options.signal, stopped.signal]);
  const arrivals: Arrival[] = [];
  let wake = (): void => undefined;
  const sources = new Set<Source>();
  /** Begins to follow runs for which there has been no room, by the ids of their calls. */
  const queue = new Map<string, () => Source>();
  const arrive = (arrival: Arrival): void => {
    arrivals.push(arrival);
    wake();
  };
  const read = (source: Source): void => {
    source.events.next().then(
      (result) => arrive({ source, result }),
      (error: unknown) => arrive({ source, error }),
    );
  };
  const open = (id: string, path: readonly CallStep[], over = new AbortController()): Source => {
    const followed = path.length === 0 ? options : { isBelow: true, over: over.signal };
    const decided = decidedIn(id, options.decided);
    const onIdle = (idle: OpenCalls): void => arrive({ source, idle });
    const events = followRun(ports, id, { ...followed, decided, signal, onIdle });
    const state = { hasBegun: false, hasEnded: false };
    const source: Source = { executionId: id, path, events, over, below: new Map<string, Source>(), ...state };
    sources.add(source);
    read(source);
    return source;
  };
  const followNext = (): void => {
    if (queue.size === 0) return;
    let room = MAX_FOLLOWED - [...sources].filter(({ idle }) => idle === undefined).length;
    for (const follow of queue.values()) if (room-- > 0) follow();
  };
  const root = open(executionId, []);
  try {
    for (;;) {
      const arrival = arrivals.shift();
      if (arrival === undefined) {
        await new Promise<void>((resolve) => (wake = resolve));
        continue;
      }
      if ('error' in arrival) throw arrival.error;
      const { source } = arrival;
      source.idle = 'idle' in arrival ? arrival.idle : undefined;
      if ('idle' in arrival) {
        followNext();
        // What has arrived meanwhile may be what people are asked.
        const isQuiet = (): boolean => options.over === undefined && arrivals.length === 0;
        if (isQuiet() && (await isWaiting(root, ports.stored)) && isQuiet()) return;
        continue;
      }
      const { result } = arrival;
      const { path, below } = source;
      if (result.done === true) {
        if (source === root) return;
        source.hasEnded = true;
        sources.delete(source);
        source.onEnd?.();
        followNext();
        continue;
      }
      source.hasBegun = true;
      const event = result.value;
      const callId = 'callId' in event ? event.callId : '';
      const call = callOfRunId({ executionId: source.executionId, callId });
      const child = below.get(callId) ?? (SETTLED.has(event.type) ? queue.get(call)?.() : undefined);
      if (child?.hasEnded === false && SETTLED.has(event.type)) {
        child.onEnd = () => arrive(arrival);
        child.over.abort();
        continue;
      }
      yield path.length === 0 ? event : { ...event, path };
      if (event.type === 'tool:executing' && startsRun(ports.tools, event.name) && child === undefined)
        if (path.length < MAX_RUN_DEPTH) {
          const step = { executionId: source.executionId, callId, name: event.name };
          queue.set(call, () => {
            const followed = open(childId(source.executionId, callId), [...path, step]);
            queue.delete(call);
            below.set(callId, followed);
            return followed;
          });
          followNext();
        }
      read(source);
    }
  } finally {
    // Ends the waiting of those that wait for events.
    stopped.abort();
    await Promise.allSettled([...sources].map(({ events }) => events.return()));
  }
}

/** Whether the run can continue only after people have decided about calls, its own or those of runs below. */
async function isWaiting({ executionId, idle, below }: Source, stored: FollowRunPorts['stored']): Promise<boolean> {
  if (idle === undefined) return false;
  const open = [...below.values()].filter(({ hasEnded }) => !hasEnded);
  const stateOf = async (child: Source): Promise<ProgressBelow> =>
    !child.hasBegun ? 'queued' : (await isWaiting(child, stored)) ? 'waiting' : 'working';
  const states = await Promise.all(open.map(stateOf));
  const limits = async () => (await stored.load(executionId))?.run.plan.limits;
  return (await areWaiting(states, limits)) && idle.isWaiting((callId) => below.get(callId)?.hasEnded === false);
}

function decidedIn(executionId: string, decided: ReadonlySet<string> = new Set()): ReadonlySet<string> {
  const prefix = callOfRunId({ executionId, callId: '' });
  return new Set([...decided].flatMap((id) => (id.startsWith(prefix) ? [id.slice(prefix.length)] : [])));
}

const SETTLED: ReadonlySet<AgentEvent['type']> = new Set([
  'tool:completed',
  'tool:failed',
  'tool:timeout',
  'tool:cancelled',
]);
