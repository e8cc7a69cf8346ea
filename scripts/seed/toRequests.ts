/** The request log of a seeded run: one entry per turn. */
import type { RequestEntry } from '../../imports/business/ai/domain/types/RequestRecords';
import type { SeededRun } from './SeededRun';

export function toRequests({ request, progress, turns }: SeededRun): readonly RequestEntry[] {
  const { executionId, userId, providerId, model = '' } = request;
  return turns.map(({ at, duration, timeToFirstToken, usage, cost, hasFailed }, index) => ({
    source: 'run',
    executionId,
    iteration: index + 1,
    requestedModel: model,
    at,
    userId,
    isStream: true,
    providerId,
    model,
    state: hasFailed ? 'failed' : 'completed',
    ...(hasFailed && progress.error !== undefined ? { error: progress.error } : { timeToFirstToken }),
    attempts: [],
    duration,
    usage,
    ...(cost === undefined ? { unpriced: `no price for model "${model}"` } : { cost }),
  }));
}
