/** The events of a run and of those below it, each of the latter with the calls that lead to it as `path`. */
import type { RunFamilyPaths } from '../../business/ai/application/operations/RunQueries';
import type { AgentEventOf } from '../../business/ai/domain/types/AgentEvents';
import type { LoggedEvent } from '../../business/ai/infrastructure/events/RunEventLog';

export class FamilyFrames {
  private readonly send: (event: LoggedEvent) => void;
  private paths: RunFamilyPaths | undefined;
  /** Events that arrive before it is known which runs there are. */
  private early: LoggedEvent[] = [];

  constructor(send: (event: LoggedEvent) => void) {
    this.send = send;
  }

  /** @param paths those of the runs that there are by now */
  begin(paths: RunFamilyPaths): void {
    this.paths = paths;
    for (const event of this.early.splice(0)) this.push(event);
  }

  /** @param event of any run that the reader may see */
  push(event: LoggedEvent): void {
    const { paths } = this;
    if (paths === undefined) {
      this.early.push(event);
      return;
    }
    if (event.type === 'run:started' && !paths.has(event.executionId)) addRun(paths, event);
    const path = paths.get(event.executionId);
    if (path === undefined) return;
    const { data } = event;
    this.send(path.length === 0 ? event : { ...event, data: `${data.slice(0, -1)},"path":${JSON.stringify(path)}}` });
  }
}

function addRun(paths: RunFamilyPaths, { executionId, data }: LoggedEvent): void {
  // The log holds serialized events.
  const { parentExecutionId = '', parentCallId = '' } = JSON.parse(data) as AgentEventOf<'run:started'>;
  const above = paths.get(parentExecutionId);
  if (above !== undefined) paths.set(executionId, [...above, { executionId: parentExecutionId, callId: parentCallId }]);
}
