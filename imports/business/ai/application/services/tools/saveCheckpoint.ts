/** Records what a tool goes on from when its process has died. */
import { ToolError } from '../../../domain/errors/LLMErrors';
import type { ToolJob } from '../ToolProcessor';
import type { ToolCallOutcome } from './ToolCallOutcome';

/** Characters. */
const MAX_CHECKPOINT = 64 * 1024;

/** Resolves when it is stored. @throws ToolError `threw` for one that is too long */
export async function saveCheckpoint(
  job: ToolJob,
  outcome: ToolCallOutcome,
  checkpoint: string | undefined,
): Promise<void> {
  if (checkpoint !== undefined && checkpoint.length > MAX_CHECKPOINT)
    throw new ToolError('threw', `A checkpoint has ${MAX_CHECKPOINT} characters at most.`);
  if (!outcome.isOpen()) return;
  job.report({ type: 'tool:checkpoint', at: Date.now(), ...(checkpoint === undefined ? {} : { checkpoint }) });
  await job.flushJournal?.();
}
