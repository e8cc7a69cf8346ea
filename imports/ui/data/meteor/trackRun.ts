/** A run as reactive data, for Tracker computations: `Tracker.autorun`, Blaze helpers, Vue with Tracker. */
import { isFinished } from '../../../business/ai/domain/entities/Run';
import { joinJsonArrays } from '../../../business/ai/domain/util/joinJsonArrays';
import type { RunDetailView } from '../../../business/ai/domain/types/RunViews';
import { NO_USAGE } from '../reducers/usageView';
import { RUNS } from './collections';
import type { MeteorSource } from './MeteorSource';
import { trackDocuments } from './trackDocuments';
import { trackSubscription } from './trackSubscription';
import type { SubscriptionStatus } from './trackSubscription';

export interface TrackedRun extends SubscriptionStatus {
  /** Undefined while it loads, and for a run that does not exist or belongs to another user. */
  readonly run: RunDetailView | undefined;
}

/**
 * Subscribes to `ai.run` while the computation runs, and returns the run. Outside a computation it returns what has
 * arrived, without subscribing.
 * @param executionId undefined as long as no run has been started
 */
export function trackRun(source: MeteorSource, executionId: string | undefined): TrackedRun {
  if (executionId === undefined) return { ...NOT_STARTED, run: undefined };
  const status = trackSubscription(source, 'ai.run', { executionId });
  const [run] = trackDocuments(source, { collection: RUNS, selector: { _id: executionId } });
  // Lists publish a part of the same document.
  const isComplete = !status.isLoading && status.error === undefined;
  return { ...status, run: run === undefined || !isComplete ? undefined : completed(run) };
}

export const NOT_STARTED: SubscriptionStatus = { isLoading: false, error: undefined, retry: () => undefined };

/**
 * Until the first model call ends, a run has no usage. Its input is published once, and not with its transcript. It has
 * not ended before its whole text is there.
 */
function completed(document: RunDetailView): RunDetailView {
  const known = COMPLETED.get(document);
  if (known !== undefined) return known;
  const { output = '[]', outputState = document.state, ...run } = document;
  const { input = '[]', transcript = joinJsonArrays(input, output) } = run;
  const state = isFinished(run.state) ? outputState : run.state;
  const complete = { ...run, state, transcript, usage: { ...NO_USAGE, ...run.usage } };
  COMPLETED.set(document, complete);
  return complete;
}

const COMPLETED = new WeakMap<RunDetailView, RunDetailView>();
