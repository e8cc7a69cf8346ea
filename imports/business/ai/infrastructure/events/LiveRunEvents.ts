/**
 * The latest events of each run that this process executes, and of those that it watches in others. A run is
 * stored before each of its model calls, so the
 * events since the last but one, together with the stored run, are the complete run: see `replayRun`.
 */
import { FairLruMap } from '../../domain/util/FairLruMap';
import { isDelta, textOfDelta } from '../../domain/types/AgentEvents';
import type { AgentEvent } from '../../domain/types/AgentEvents';

export interface FollowedRun {
  /** The events since the last but one `iteration:start`, without progress. Fragments of one text are merged. */
  readonly recent: readonly AgentEvent[];
  readonly unsubscribe: () => void;
}

type Listener = (event: AgentEvent) => void;

/** Runs of which events are retained. Of the user who has most, the oldest are dropped first. */
const MAX_RUNS = 10_000;
/** Runs of which it is known whose they are. */
const MAX_OWNERS = 10 * MAX_RUNS;

export class LiveRunEvents {
  private readonly recent = new FairLruMap<readonly AgentEvent[]>({ entries: MAX_RUNS });
  /** User ids by run, also of runs whose events were dropped. */
  private readonly owners = new Map<string, string>();
  private readonly listeners = new Map<string, Set<Listener>>();

  /** The number of runs of which events are retained. */
  get size(): number {
    return this.recent.size;
  }

  /** The number of runs that have listeners. */
  get followerCount(): number {
    return this.listeners.size;
  }

  readonly record = (event: AgentEvent): void => {
    this.retain(event);
    for (const listener of this.listeners.get(event.executionId) ?? []) listener(event);
  };

  /**
   * Records an event of another process. Of a model call that had begun before its events were heard, none are passed
   * on, since its text would have no beginning.
   */
  readonly recordRemote = (event: AgentEvent, userId: string): void => {
    const { executionId, type } = event;
    if (!this.owners.has(executionId)) {
      if (type !== 'run:started' && type !== 'iteration:start') return;
      this.own(executionId, userId);
    }
    this.record(event);
  };

  /** @param listener receives the events after `recent` */
  follow(executionId: string, listener: Listener): FollowedRun {
    const listeners = this.listeners.get(executionId) ?? new Set();
    this.listeners.set(executionId, listeners.add(listener));
    return {
      recent: this.recent.get(this.ownerOf(executionId), executionId) ?? [],
      unsubscribe: () => {
        listeners.delete(listener);
        if (listeners.size === 0 && this.listeners.get(executionId) === listeners) this.listeners.delete(executionId);
      },
    };
  }

  private ownerOf(executionId: string): string {
    return this.owners.get(executionId) ?? '';
  }

  private own(executionId: string, userId: string): void {
    this.owners.set(executionId, userId);
    for (const oldest of this.owners.keys()) {
      if (this.owners.size <= MAX_OWNERS) break;
      this.owners.delete(oldest);
    }
  }

  private retain(event: AgentEvent): void {
    const { executionId } = event;
    const userId = 'userId' in event ? event.userId : this.ownerOf(executionId);
    switch (event.type) {
      case 'run:completed':
      case 'run:failed':
      case 'run:cancelled':
        this.recent.delete(userId, executionId);
        this.owners.delete(executionId);
        return;
      case 'run:started':
        this.own(executionId, userId);
        this.recent.set(userId, executionId, [event]);
        return;
      case 'iteration:start': {
        const events = this.recent.get(userId, executionId) ?? [];
        const last = events.findLastIndex(({ type }) => type === 'iteration:start');
        this.recent.set(userId, executionId, [...events.slice(Math.max(0, last)), event]);
        return;
      }
      case 'tool:progress':
        return;
      default: {
        const events = this.recent.get(userId, executionId);
        if (events !== undefined) this.recent.set(userId, executionId, appendEvent(events, event));
      }
    }
  }
}

/** Appends the event, merged with the last one if both are fragments of one text. */
export function appendEvent(events: readonly AgentEvent[], event: AgentEvent): readonly AgentEvent[] {
  const last = events.at(-1);
  if (last === undefined || !isDelta(last) || !isDelta(event) || textOfDelta(last) !== textOfDelta(event))
    return [...events, event];
  return [...events.slice(0, -1), { ...event, delta: last.delta + event.delta }];
}
