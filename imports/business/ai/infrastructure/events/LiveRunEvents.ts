/**
 * The latest events of each run that this process executes. A run is stored before each of its model calls, so the
 * events since the last but one, together with the stored run, are the complete run: see `replayRun`.
 */
import type { AgentEvent } from '../../domain/types/AgentEvents';

export interface FollowedRun {
  /** The events since the last but one `iteration:start`, without progress. Deltas of one kind are merged. */
  readonly recent: readonly AgentEvent[];
  readonly unsubscribe: () => void;
}

type Listener = (event: AgentEvent) => void;

/** Runs of which events are retained. The oldest ones are dropped: another process may have continued them. */
const MAX_RUNS = 10_000;

export class LiveRunEvents {
  private readonly recent = new Map<string, readonly AgentEvent[]>();
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

  /** @param listener receives the events after `recent` */
  follow(executionId: string, listener: Listener): FollowedRun {
    const listeners = this.listeners.get(executionId) ?? new Set();
    this.listeners.set(executionId, listeners.add(listener));
    return {
      recent: this.recent.get(executionId) ?? [],
      unsubscribe: () => {
        listeners.delete(listener);
        if (listeners.size === 0 && this.listeners.get(executionId) === listeners) this.listeners.delete(executionId);
      },
    };
  }

  private retain(event: AgentEvent): void {
    const { executionId } = event;
    switch (event.type) {
      case 'run:completed':
      case 'run:failed':
      case 'run:cancelled':
        this.recent.delete(executionId);
        return;
      case 'run:started':
        this.recent.set(executionId, [event]);
        for (const oldest of this.recent.keys()) {
          if (this.recent.size <= MAX_RUNS) break;
          this.recent.delete(oldest);
        }
        return;
      case 'iteration:start': {
        const events = this.recent.get(executionId) ?? [];
        const last = events.findLastIndex(({ type }) => type === 'iteration:start');
        this.recent.set(executionId, [...events.slice(Math.max(0, last)), event]);
        return;
      }
      case 'tool:progress':
        return;
      default: {
        const events = this.recent.get(executionId);
        if (events !== undefined) this.recent.set(executionId, appendEvent(events, event));
      }
    }
  }
}

/** Appends the event, merged with the last one if both are deltas of one kind. */
export function appendEvent(events: readonly AgentEvent[], event: AgentEvent): readonly AgentEvent[] {
  const last = events.at(-1);
  if (last?.type !== 'llm:delta' || event.type !== 'llm:delta' || last.kind !== event.kind) return [...events, event];
  return [...events.slice(0, -1), { ...event, delta: last.delta + event.delta }];
}
