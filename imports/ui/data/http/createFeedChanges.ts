/** Changes by the stream of run events: those of runs and calls are the events themselves. */
import type { AgentEvent } from '../../../business/ai/domain/types/AgentEvents';
import type { Topic } from '../../../business/ai/domain/types/Topics';
import type { ChangeSource } from '../queries/ChangeSource';
import type { EventFeed } from './EventFeed';

export function createFeedChanges(feed: Pick<EventFeed, 'subscribe'>): ChangeSource {
  return {
    subscribe: (topics, listener) =>
      feed.subscribe({
        onOpen: () => listener.onOpen(),
        onDisconnected: () => listener.onDisconnected(),
        onChanges(changed) {
          if (changed.some((topic) => topics.includes(topic))) listener.onChange();
        },
        onEvents(events) {
          if (events.some((event) => topicsOf(event).some((topic) => topics.includes(topic)))) listener.onChange();
        },
      }),
  };
}

/** A run waits, or continues, because of its calls. */
function topicsOf({ type }: AgentEvent): readonly Topic[] {
  if (type === 'llm:delta' || type === 'tool:arguments_delta' || type === 'tool:progress') return NONE;
  return type.startsWith('tool:') ? RUNS_AND_CALLS : RUNS;
}

const NONE: readonly Topic[] = [];
const RUNS: readonly Topic[] = ['runs'];
const RUNS_AND_CALLS: readonly Topic[] = ['runs', 'calls'];
