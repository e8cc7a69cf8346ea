/** The ids of calls of runs that a run has started, directly or not, where they stand among that run's own calls. */
import type { CallOfRun } from '../types/AgentEvents';

export function callBelowId({ executionId, callId }: CallOfRun): string {
  return `${executionId}:${callId}`;
}

/** @returns undefined for the id of a run's own call */
export function callBelowOf(id: string): CallOfRun | undefined {
  // See `childId`.
  const { executionId, callId } = /^(?<executionId>[0-9a-f]{32}):(?<callId>.+)$/su.exec(id)?.groups ?? {};
  return executionId === undefined || callId === undefined ? undefined : { executionId, callId };
}
