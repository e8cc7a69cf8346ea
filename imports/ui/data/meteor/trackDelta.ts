/** The text of a run as the model writes it, for Tracker computations. */
import type { RunDetailView } from '../../../business/ai/domain/types/RunViews';
import type { LiveText } from '../DashboardData';
import { joinDeltas, joinItems } from '../reducers/deriveLiveText';
import { outputItems } from '../reducers/outputItems';
import { DELTAS } from './collections';
import type { MeteorSource } from './MeteorSource';
import { trackDocuments } from './trackDocuments';
import { NOT_STARTED, trackRun } from './trackRun';
import type { SubscriptionStatus } from './trackSubscription';

export interface TrackedDelta extends SubscriptionStatus, LiveText {}

/**
 * Everything that the model has written in a run so far, over the same subscription as `trackRun`. It stays when the
 * run has ended.
 */
export function trackDelta(source: MeteorSource, executionId: string | undefined): TrackedDelta {
  if (executionId === undefined) return { ...NOT_STARTED, text: '', reasoning: '' };
  const { run, ...status } = trackRun(source, executionId);
  const deltas = trackDocuments(source, { collection: DELTAS, selector: { executionId }, sort: { seq: 1 } });
  const streamed = joinDeltas(deltas);
  const recorded = run === undefined ? NOTHING : recordedText(run);
  // Deltas are ahead of the transcript while the run streams; they expire, and are bounded in number.
  return {
    ...status,
    text: longer(streamed.text, recorded.text),
    reasoning: longer(streamed.reasoning, recorded.reasoning),
  };
}

const NOTHING: LiveText = { text: '', reasoning: '' };

function longer(a: string, b: string): string {
  return a.length >= b.length ? a : b;
}

function recordedText(run: RunDetailView): LiveText {
  const known = RECORDED.get(run);
  if (known !== undefined) return known;
  const text = joinItems(outputItems(run));
  RECORDED.set(run, text);
  return text;
}

const RECORDED = new WeakMap<RunDetailView, LiveText>();
