/** What differs between two states of a stored run. No content is part of it, which would have to be opened. */
import type { RunDocument, ToolCallDocument } from './runDocuments';

/** Each write of a run has the number of its last event. A change of its calls alone may be written without the run. */
export const RUN_VERSION_FIELDS = { fence: 1, seq: 1, state: 1, iterations: 1, isCalling: 1 } as const;
export const CALL_VERSION_FIELDS = {
  executionId: 1,
  state: 1,
  startTime: 1,
  endTime: 1,
  expiresAt: 1,
  progress: 1,
} as const satisfies { readonly [F in keyof ToolCallDocument]?: 1 };

type VersionedCall = Pick<ToolCallDocument, 'state'> & {
  readonly [F in 'startTime' | 'endTime' | 'expiresAt' | 'progress']?: unknown;
};

/** @param calls oldest first */
export function runVersion(
  { fence, seq, state, iterations, isCalling }: Pick<RunDocument, keyof typeof RUN_VERSION_FIELDS>,
  calls: readonly VersionedCall[],
): string {
  const callVersions = calls.map((call) => [call.state, call.startTime, call.endTime, call.expiresAt, call.progress]);
  return JSON.stringify([fence, seq, state, iterations, isCalling, callVersions]);
}
