/** Records what a tool goes on from when its process has died. */
import { ToolError } from '../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { WorkInProgress } from './WorkInProgress';
import type { ToolCallHandle, ToolCallOutcome } from './ToolCallOutcome';

export interface StoredJob extends ToolCallHandle {
  /**
   * Resolves when everything reported so far is stored, as far as a run must have it stored before such a tool runs.
   * Absent if runs are not stored.
   */
  readonly flushJournal?: (() => Promise<void> | undefined) | undefined;
}

/** Characters. */
const MAX_CHECKPOINT = 64 * 1024;

/** Resolves when it is stored. @throws ToolError `threw` for one that is too long */
export async function saveCheckpoint(
  job: StoredJob,
  outcome: ToolCallOutcome,
  work: WorkInProgress,
  checkpoint: string | undefined,
): Promise<void> {
  if (checkpoint !== undefined && checkpoint.length > MAX_CHECKPOINT)
    throw new ToolError('threw', `A checkpoint has ${MAX_CHECKPOINT} characters at most.`);
  if (!outcome.isOpen()) return;
  job.report(omitUndefined({ type: 'tool:checkpoint', at: Date.now(), checkpoint }));
  await job.flushJournal?.();
  // A shutdown need not wait for a tool that goes on in the next process.
  if (checkpoint === undefined && outcome.isOpen()) work.beginTool(outcome);
  else work.endTool(outcome);
}
