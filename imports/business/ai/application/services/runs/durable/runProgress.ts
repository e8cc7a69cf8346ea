/** What the journal records of a run, as it stands at the moment of writing. */
import type { RunContext } from '../RunContext';
import type { OwnProgress } from './RunJournal';

/** @param loopProgress the fields that the run's loop maintains */
export function runProgress(
  { run, journal }: Pick<RunContext, 'run' | 'journal'>,
  { failedTurns, worked, takeovers }: Pick<OwnProgress, 'failedTurns' | 'worked' | 'takeovers'>,
): OwnProgress {
  const { deliveries, toolNames } = run;
  return {
    ...run.bill.totals,
    state: run.state,
    iterations: run.iterations,
    isCalling: run.isCalling,
    turnStart: run.turnStart,
    seq: run.seq,
    failedTurns,
    worked,
    takeovers,
    ...(journal === undefined ? undefined : { startedAt: journal.startedAt }),
    ...(deliveries === 0 ? undefined : { deliveries }),
    ...(toolNames.length === 0 ? undefined : { tools: toolNames.slice() }),
  };
}
