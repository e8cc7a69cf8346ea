/** What the journal records of a run, as it stands at the moment of writing. */
import type { RunContext } from '../RunContext';
import type { OwnProgress } from './RunJournal';
import type { Writable } from '../../../../domain/types/Writable';

type ProgressContext = Pick<RunContext, 'run' | 'journal' | 'missingTools' | 'changedTools' | 'toolHashes'>;

/** @param loopProgress the fields that the run's loop maintains */
export function runProgress(
  { run, journal, missingTools, changedTools, toolHashes }: ProgressContext,
  { failedTurns, worked, takeovers }: Pick<OwnProgress, 'failedTurns' | 'worked' | 'takeovers'>,
): OwnProgress {
  const { deliveries, toolNames } = run;
  const { usage, cost, unpriced, models } = run.bill.totals;
  const progress: Writable<OwnProgress> = {
    usage,
    state: run.state,
    iterations: run.iterations,
    isCalling: run.isCalling,
    turnStart: run.turnStart,
    seq: run.seq,
    failedTurns,
    worked,
    takeovers,
  };
  if (journal !== undefined) progress.startedAt = journal.startedAt;
  if (models !== undefined) progress.models = models;
  if (cost !== undefined) progress.cost = cost;
  if (unpriced !== undefined) progress.unpriced = unpriced;
  if (toolNames.length > 0) progress.tools = toolNames;
  if (missingTools !== undefined) progress.missingTools = missingTools;
  if (changedTools !== undefined) progress.changedTools = changedTools;
  if (toolHashes !== undefined) progress.toolHashes = toolHashes;
  if (deliveries > 0) progress.deliveries = deliveries;
  return progress;
}
