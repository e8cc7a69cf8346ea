/** What the journal records of a run, as it stands at the moment of writing. */
import type { RunProgress } from '../../../../domain/types/RunRecords';
import type { RunContext } from '../RunContext';

/** @param loopProgress the fields that the run's loop maintains */
export function runProgress(
  { run, journal }: Pick<RunContext, 'run' | 'journal'>,
  loopProgress: Pick<RunProgress, 'failedTurns' | 'worked' | 'takeovers'>,
): RunProgress {
  const { state, iterations, isCalling, deliveries, bill, transcript, turnStart, lastResponse: response, seq } = run;
  return {
    state,
    ...(journal === undefined ? {} : { startedAt: journal.startedAt }),
    iterations,
    isCalling,
    ...(deliveries === 0 ? {} : { deliveries }),
    ...bill.totals,
    transcript: [...transcript],
    turnStart,
    ...(response === undefined ? {} : { response }),
    ...toolsOf(run),
    seq,
    ...loopProgress,
  };
}

const MAX_LISTED_TOOLS = 64;

function toolsOf({ calls }: RunContext['run']): Pick<RunProgress, 'tools'> {
  const names = new Set([...calls.values()].map(({ name }) => name));
  return names.size === 0 ? {} : { tools: [...names].slice(0, MAX_LISTED_TOOLS) };
}
