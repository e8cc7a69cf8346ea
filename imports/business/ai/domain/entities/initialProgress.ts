/** The progress of a run that has not done anything yet. */
import type { RunProgress, RunRequest } from '../types/RunRecords';
import { NO_USAGE } from './Response';

export function initialProgress(
  { input, createdAt }: Pick<RunRequest, 'input' | 'createdAt'>,
  state: 'queued' | 'running',
): RunProgress {
  return {
    state,
    ...(state === 'running' ? { startedAt: createdAt } : {}),
    iterations: 0,
    isCalling: false,
    usage: NO_USAGE,
    transcript: input,
    turnStart: input.length,
    failedTurns: 0,
    worked: 0,
    seq: 0,
    takeovers: 0,
  };
}
