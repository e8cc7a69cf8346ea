/** What the journal records of a run, as it stands at the moment of writing. */
import type { RunProgress } from '../../../../domain/types/RunRecords';
import type { RunContext } from '../RunContext';

/**
 * @param loopProgress the fields that the run's loop maintains
 * @returns has the live transcript, which grows
 */
export function runProgress(
  { run, journal }: Pick<RunContext, 'run' | 'journal'>,
  loopProgress: Pick<RunProgress, 'failedTurns' | 'worked' | 'takeovers'>,
): RunProgress {
  const {
    state,
    iterations,
    isCalling,
    deliveries,
    bill,
    transcript,
    turnStart,
    lastResponse: response,
    seq,
    toolNames,
  } = run;
  return {
    state,
    ...(journal === undefined ? {} : { startedAt: journal.startedAt }),
    iterations,
    isCalling,
    ...(deliveries === 0 ? {} : { deliveries }),
    ...bill.totals,
    transcript,
    turnStart,
    ...(response === undefined ? {} : { response }),
    ...(toolNames.length === 0 ? {} : { tools: [...toolNames] }),
    seq,
    ...loopProgress,
  };
}
