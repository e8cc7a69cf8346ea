/** What a host provides for the dashboard's routes about runs. */
import type { RunMethods } from '../../business/ai/application/operations/runCommandOperations';
import type { RunQueries } from '../../business/ai/application/operations/RunQueries';
import type { LiveRunEvents } from '../../business/ai/infrastructure/events/LiveRunEvents';
import type { RunEventLog } from '../../business/ai/infrastructure/events/RunEventLog';

export interface RunRoutePorts {
  readonly methods: RunMethods;
  readonly queries: RunQueries;
  readonly events: RunEventLog;
  /** Enables, with `chats`, `/chat`. */
  readonly live?: LiveRunEvents;
  /** Makes the events of a user's runs in other processes appear in `live`. */
  readonly watch?: (userId: string) => () => void;
}
