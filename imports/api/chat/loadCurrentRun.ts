/** A stored run whose calls are as they are now: those of a run of this process may not be stored yet. */
import type { RunStore, StoredRun } from '../../business/ai/domain/interfaces/RunStore';
import type { AgenticLoop } from '../../business/ai/application/services/AgenticLoop';

export interface LoadRunPorts {
  readonly runs: Pick<RunStore, 'load'>;
  readonly loop: Pick<AgenticLoop, 'getExecutionContext'> & {
    readonly local: Pick<AgenticLoop['local'], 'whenStored'>;
  };
}

/** @returns undefined for an unknown run */
export async function loadCurrentRun(
  { runs, loop }: LoadRunPorts,
  executionId: string,
): Promise<StoredRun | undefined> {
  // Clients learn of a call before the transcript that it is in is stored.
  await loop.local.whenStored(executionId);
  const stored = await runs.load(executionId);
  const live = loop.getExecutionContext(executionId)?.toolCalls;
  return stored === undefined || live === undefined ? stored : { ...stored, calls: [...live.values()] };
}
