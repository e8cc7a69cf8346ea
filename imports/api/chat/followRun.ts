/** A run's events from its beginning, whenever and wherever it was started. */
import { isFinished } from '../../business/ai/domain/entities/Run';
import { RUN_END_EVENTS } from '../../business/ai/domain/types/AgentEvents';
import type { AgentEvent } from '../../business/ai/domain/types/AgentEvents';
import type { FunctionTool } from '../../business/ai/domain/entities/Tool';
import { replayRun } from '../../business/ai/application/services/replayRun';
import { appendEvent } from '../../business/ai/infrastructure/events/LiveRunEvents';
import type { LiveRunEvents } from '../../business/ai/infrastructure/events/LiveRunEvents';
import { ContinuedText } from './ContinuedText';
import { NewEvents } from './NewEvents';
import { OpenCalls } from './OpenCalls';
import { isExternal } from './serverTools';
import type { StoredRuns } from './StoredRuns';

export interface FollowRunPorts {
  readonly stored: StoredRuns;
  readonly live: Pick<LiveRunEvents, 'follow'>;
  /** Makes the events of a user's runs in other processes appear in `live`. @returns ends it */
  readonly watch?: (userId: string) => () => void;
  readonly tools: { readonly tools: readonly Pick<FunctionTool, 'name' | 'kind' | 'delivery'>[] };
}

export interface FollowRunOptions {
  /** Ends the following, not the run. */
  readonly signal: AbortSignal;
  /** Calls that were decided just now. */
  readonly decided?: ReadonlySet<string> | undefined;
  /** The tools of the run, but of none below it, that its client executes. Default: none. */
  readonly clientTools?: ReadonlySet<string> | undefined;
  /** A call of another run has started it. Default: false. */
  readonly isBelow?: boolean | undefined;
  /**
   * Follows a run that may not be stored yet, until it ends or is deleted, also while it waits for people. Once this
   * fires, what is stored of it is all.
   */
  readonly over?: AbortSignal | undefined;
  /** Called when all events so far have been read. */
  readonly onIdle?: ((open: OpenCalls) => void) | undefined;
}

/**
 * Begins with the events that the stored run stands for, and continues with live ones. Runs of other processes are
 * followed in the store, too, which has all but the live text. Ends with the run, or as soon as it can continue
 * only after
 * people have decided about its calls or have supplied their results.
 * @throws the signal's reason; LLMConnectionError if another process answers a model call anew, and differently:
 *   what the client has of it cannot be taken back, so it has to start over
 */
export async function* followRun(
  { stored: runs, live, watch, tools }: FollowRunPorts,
  executionId: string,
  { signal, decided, clientTools, isBelow, over, onIdle }: FollowRunOptions,
): AsyncGenerator<AgentEvent, void, undefined> {
  const fresh = new NewEvents();
  const silent = new Set(tools.tools.flatMap(({ name, delivery }) => (delivery === 'silent' ? [name] : [])));
  const open = new OpenCalls({
    isExternal: (name) => clientTools?.has(name) === true || isExternal(tools, name, isBelow),
    isSilent: (name) => silent.has(name),
    decided,
  });
  const text = new ContinuedText();
  let stopWatching: (() => void) | undefined;
  // A run that nobody expects is as good as deleted.
  let version = over === undefined ? '' : undefined;
  const stored = async (): Promise<readonly AgentEvent[]> => {
    const run = await runs.load(executionId);
    if (run === undefined) return [];
    ({ version } = run);
    if (!isFinished(run.run.state)) stopWatching ??= watch?.(run.run.userId);
    return replayRun(run);
  };
  let queue: readonly AgentEvent[] = [];
  let wake: (isChanged?: boolean) => void = () => undefined;
  const onOver = (): void => wake();
  const isOver = (): boolean => over?.aborted === true;
  let isComplete = false;
  // Before the run is read, so that no event is missed in between.
  const { recent, unsubscribe } = live.follow(executionId, (event) => {
    queue = appendEvent(queue, event);
    wake();
  });
  try {
    const beginning = await stored();
    let wasStored = beginning.length > 0;
    queue = [...beginning, ...recent, ...queue];
    for (;;) {
      const events = queue;
      queue = [];
      for (const arrived of events) {
        signal.throwIfAborted();
        if (!fresh.accepts(arrived)) continue;
        const event = text.next(arrived);
        if (event === undefined) continue;
        open.push(event);
        yield event;
        if (RUN_END_EVENTS.has(event.type)) return;
      }
      if (queue.length > 0) continue;
      if (over === undefined && open.isWaitingForPeople) return;
      signal.throwIfAborted();
      onIdle?.(open);
      if (isOver()) {
        if (isComplete) return;
        isComplete = true;
        queue = [...(await stored()), ...queue];
        continue;
      }
      const hasChanged = await new Promise<boolean>((resolve, reject) => {
        const stopWaiting = runs.onChange(executionId, version, () => wake(true));
        over?.addEventListener('abort', onOver, { once: true });
        const onAbort = (): void => {
          stopWaiting();
          reject(signal.reason as Error);
        };
        wake = (isChanged = false) => {
          stopWaiting();
          signal.removeEventListener('abort', onAbort);
          over?.removeEventListener('abort', onOver);
          resolve(isChanged);
        };
        signal.addEventListener('abort', onAbort, { once: true });
      });
      if (hasChanged && queue.length === 0 && !isOver()) {
        const current = await stored();
        // The user's data was deleted.
        if (current.length === 0 && (over === undefined || wasStored)) return;
        wasStored ||= current.length > 0;
        queue = [...current, ...queue];
      }
    }
  } finally {
    unsubscribe();
    stopWatching?.();
  }
}
