/** The events of a run and of those below it, each of the latter with the calls that lead to it as `path`. */
import { RUN_END_EVENTS } from '../../business/ai/domain/types/AgentEvents';
import type { AgentEventOf, CallOfRun } from '../../business/ai/domain/types/AgentEvents';
import type { LoggedEvent } from '../../business/ai/infrastructure/events/RunEventLog';

type Path = readonly CallOfRun[];

export interface FamilyFramesOptions {
  readonly executionId: string;
  /** Reads from the store which calls lead from the run to that one. @returns undefined if it is not below it */
  readonly pathTo: (executionId: string) => Promise<Path | undefined>;
  readonly send: (event: LoggedEvent) => void;
  /** UTF-16 code units of events that may wait for a run that is being looked up. Those beyond wait in the log. */
  readonly maxQueuedLength: number;
  /** Pushes the events that the log has after this one, before any newer ones. */
  readonly resume: (id: number) => void;
  /** Called when an event may have been missed, after which there are no more. */
  readonly onError: (error: unknown) => void;
}

export class FamilyFrames {
  private readonly options: FamilyFramesOptions;
  /** By run. Undefined for one that is not below the run. */
  private readonly paths = new Map<string, Path | undefined>();
  /** Events in their order, the first of which is of a run that is being looked up. */
  private readonly queue: LoggedEvent[] = [];
  private queuedLength = 0;
  /** The id of the last event that was taken. Defined while those after it wait in the log. */
  private takenUpTo: number | undefined;
  private hasFailed = false;

  constructor(options: FamilyFramesOptions) {
    this.options = options;
    this.paths.set(options.executionId, []);
  }

  /** @param event of any run that the reader may see */
  push(event: LoggedEvent): void {
    if (this.hasFailed || this.takenUpTo !== undefined) return;
    if (this.queue.length === 0 && this.pass(event)) return;
    this.queue.push(event);
    this.queuedLength += event.data.length;
    if (this.queuedLength >= this.options.maxQueuedLength) this.takenUpTo = event.id;
    if (this.queue.length === 1) void this.lookUp(event);
  }

  /** @returns false if it is not known whether the event's run is below the run */
  private pass(event: LoggedEvent): boolean {
    const { paths } = this;
    const { executionId, type } = event;
    if (type === 'run:started' && !paths.has(executionId)) this.addStarted(event);
    if (!paths.has(executionId)) return false;
    const path = paths.get(executionId);
    if (path === undefined) {
      if (RUN_END_EVENTS.has(type)) paths.delete(executionId);
      return true;
    }
    const { data } = event;
    this.options.send(
      path.length === 0 ? event : { ...event, data: `${data.slice(0, -1)},"path":${JSON.stringify(path)}}` },
    );
    return true;
  }

  private addStarted({ executionId, data }: LoggedEvent): void {
    const { paths } = this;
    // The log holds serialized events.
    const { parentExecutionId, parentCallId: callId = '' } = JSON.parse(data) as AgentEventOf<'run:started'>;
    if (parentExecutionId === undefined) paths.set(executionId, undefined);
    else if (paths.has(parentExecutionId)) {
      const above = paths.get(parentExecutionId);
      paths.set(executionId, above && [...above, { executionId: parentExecutionId, callId }]);
    }
  }

  /** Events of other processes may come before that with which the run above has begun, or without it. */
  private async lookUp({ executionId }: LoggedEvent): Promise<void> {
    try {
      this.paths.set(executionId, await this.options.pathTo(executionId));
    } catch (error) {
      this.hasFailed = true;
      this.options.onError(error);
      return;
    }
    let passed = 0;
    for (const event of this.queue) {
      if (!this.pass(event)) break;
      passed += 1;
      this.queuedLength -= event.data.length;
    }
    this.queue.splice(0, passed);
    const [next] = this.queue;
    const { takenUpTo } = this;
    if (next !== undefined) void this.lookUp(next);
    else if (takenUpTo !== undefined) {
      this.takenUpTo = undefined;
      this.options.resume(takenUpTo);
    }
  }
}
