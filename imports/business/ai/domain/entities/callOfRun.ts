/** The ids of calls where those of several runs stand beside each other. */
import type { CallOfRun } from '../types/AgentEvents';

export function callOfRunId({ executionId, callId }: CallOfRun): string {
  return `${executionId}:${callId}`;
}

/**
 * Reads the id of a call of a run that another call has started; see `childId`. A model may have given a call of its
 * own such an id: look for that first.
 */
export function callOfRunIn(id: string): CallOfRun | undefined {
  const { executionId, callId } = /^(?<executionId>[0-9a-f]{32}):(?<callId>.+)$/su.exec(id)?.groups ?? {};
  return executionId === undefined || callId === undefined ? undefined : { executionId, callId };
}
