/** Records the events of a loop, and lets a test wait for an event instead of a fixed time. */
import type { AgenticLoop } from '../../imports/business/ai/application/services/AgenticLoop';
import type { AgentEvent, AgentEventOf, AgentEventType } from '../../imports/business/ai/domain/types/AgentEvents';

export interface EventRecord {
  readonly events: readonly AgentEvent[];
  /** `type`, or `type name` for events of a call. */
  readonly lines: readonly string[];
  /** Resolves with the next event of this type, or with one that was already emitted. */
  seen<T extends AgentEventType>(type: T, matches?: (event: AgentEventOf<T>) => boolean): Promise<AgentEventOf<T>>;
}

export function recordEvents(loop: AgenticLoop): EventRecord {
  const events: AgentEvent[] = [];
  let waiters: { readonly test: (event: AgentEvent) => boolean; readonly resolve: (event: AgentEvent) => void }[] = [];
  loop.on('event', (event) => {
    events.push(event);
    const ready = waiters.filter((waiter) => waiter.test(event));
    waiters = waiters.filter((waiter) => !ready.includes(waiter));
    for (const waiter of ready) waiter.resolve(event);
  });
  return {
    events,
    get lines() {
      return events.map((event) => ('name' in event ? `${event.type} ${event.name}` : event.type));
    },
    seen<T extends AgentEventType>(type: T, matches: (event: AgentEventOf<T>) => boolean = () => true) {
      const test = (event: AgentEvent): boolean => event.type === type && matches(event as AgentEventOf<T>);
      const past = events.find(test);
      // The type was checked above.
      if (past !== undefined) return Promise.resolve(past as AgentEventOf<T>);
      return new Promise<AgentEvent>((resolve) => waiters.push({ test, resolve })) as Promise<AgentEventOf<T>>;
    },
  };
}
