/** What the journal records of a run, as it stands at the moment of writing. */
import type { RunProgress } from '../../../../domain/types/RunRecords';
import type { SnapshotSource } from './RunJournal';
import type { RunContext } from '../RunContext';

/**
 * @param startedAt milliseconds since the epoch
 * @param loopProgress the fields that the run's loop maintains
 */
export function runSnapshot(
  { run }: RunContext,
  startedAt: number,
  loopProgress: () => Pick<RunProgress, 'failedTurns' | 'worked' | 'takeovers'>,
): SnapshotSource {
  return {
    progress: () => {
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
      } = run;
      return {
        state,
        startedAt,
        iterations,
        isCalling,
        ...(deliveries === 0 ? {} : { deliveries }),
        ...bill.totals,
        transcript: [...transcript],
        turnStart,
        ...(response === undefined ? {} : { response }),
        ...toolsOf(run),
        seq,
        ...loopProgress(),
      };
    },
    getCall: (id) => run.getCall(id),
  };
}

const MAX_LISTED_TOOLS = 64;

function toolsOf({ calls }: RunContext['run']): Pick<RunProgress, 'tools'> {
  const names = new Set([...calls.values()].map(({ name }) => name));
  return names.size === 0 ? {} : { tools: [...names].slice(0, MAX_LISTED_TOOLS) };
}
