/** What the store is told of a run besides its content: the transcript, the response and the compaction. */
import { isCalling } from '../../../../domain/run/ActiveRun';
import type { ActiveRun } from '../../../../domain/run/ActiveRun';
import type { RunProgress } from '../../../../domain/types/RunRecords';
import type { Writable } from '../../../../domain/types/Writable';

type OwnProgress = Omit<RunProgress, 'transcript' | 'response' | 'compaction'>;

/** @param about what does not change while the run is in this process, and `worked`, which always does */
export function runProgress(
  state: ActiveRun,
  about: Pick<OwnProgress, 'worked' | 'startedAt'> & {
    readonly [K in 'missingTools' | 'changedTools' | 'toolHashes']?: OwnProgress[K] | undefined;
  },
): OwnProgress {
  const { deliveries, countedFrom, toolNames, totals, iterations, turnStart, seq, failedTurns, takeovers } = state;
  const progress: Writable<OwnProgress> = {
    usage: totals.usage,
    state: state.status,
    iterations,
    isCalling: isCalling(state),
    turnStart,
    seq,
    failedTurns,
    worked: about.worked,
    takeovers,
  };
  if (about.startedAt !== undefined) progress.startedAt = about.startedAt;
  if (totals.models !== undefined) progress.models = totals.models;
  if (totals.cost !== undefined) progress.cost = totals.cost;
  if (totals.unpriced !== undefined) progress.unpriced = totals.unpriced;
  if (toolNames.length > 0) progress.tools = toolNames;
  if (about.missingTools !== undefined) progress.missingTools = about.missingTools;
  if (about.changedTools !== undefined) progress.changedTools = about.changedTools;
  if (about.toolHashes !== undefined) progress.toolHashes = about.toolHashes;
  if (deliveries > 0) progress.deliveries = deliveries;
  if (countedFrom > 0) progress.countedFrom = countedFrom;
  return progress;
}
