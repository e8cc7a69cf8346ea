/** A run as reactive data, for Tracker computations: `Tracker.autorun`, Blaze helpers, Vue with Tracker. */
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
  return { ...status, run: run === undefined || !isComplete ? undefined : withUsage(run) };
}

export const NOT_STARTED: SubscriptionStatus = { isLoading: false, error: undefined, retry: () => undefined };

/** Until the first model call ends, a run has no usage. */
function withUsage(run: RunDetailView): RunDetailView {
  const complete = COMPLETE.get(run) ?? { ...run, usage: { ...NO_USAGE, ...run.usage } };
  COMPLETE.set(run, complete);
  return complete;
}

const COMPLETE = new WeakMap<RunDetailView, RunDetailView>();
