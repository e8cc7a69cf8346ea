/** What a run gave that ended in another process, or long ago. */
import { isFinished } from '../../domain/entities/Run';
import type { RunReport, RunResult } from '../../domain/entities/Run';
import { isSettled } from '../../domain/entities/Tool';
import { restoreError } from '../../domain/errors/restoreError';
import { LLMServerError } from '../../domain/errors/LLMErrors';
import type { WholeRun } from '../../domain/interfaces/RunStore';
import { FollowUps } from './runs/FollowUps';

/** @throws the error that ended it, with its report, as the loop does; LLMServerError for a run that has not ended */
export function resultOfStoredRun({ run, calls }: WholeRun): RunResult {
  if (!isFinished(run.state))
    throw new LLMServerError(`the run '${run.executionId}' has not ended`, { retryable: false });
  const followUps = new FollowUps();
  const report: RunReport = {
    executionId: run.executionId,
    usage: run.usage,
    iterations: run.iterations,
    transcript: run.transcript,
    toolCalls: calls,
    pending: [],
    undelivered: calls.filter(
      (call) => isSettled(call) && call.state !== 'cancelled' && call.deliveredIn === undefined,
    ),
    followUps,
  };
  if (run.state === 'completed' && run.response !== undefined) {
    followUps.close();
    return { ...report, response: run.response };
  }
  const { code, message } = run.error ?? { code: 'vendor-error', message: 'The run failed.' };
  const error = restoreError(code, message, run.response);
  error.run = report;
  followUps.close(error);
  throw error;
}
