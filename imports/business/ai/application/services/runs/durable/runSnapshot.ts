/** What the journal records of a run, as it stands at the moment of writing. */
import { costOf } from '../../../../domain/entities/Response';
import type { RunProgress } from '../../../../domain/types/RunRecords';
import type { SnapshotSource } from './RunJournal';
import type { RunContext } from '../RunContext';

/**
 * @param startedAt milliseconds since the epoch
 * @param loopProgress the fields that the run's loop maintains
 */
export function runSnapshot(
  { run, provider, options }: RunContext,
  startedAt: number,
  loopProgress: () => Pick<RunProgress, 'isCalling' | 'failedTurns' | 'worked' | 'takeovers'>,
): SnapshotSource {
  return {
    progress: () => {
      const { state, iterations, deliveries, usage, transcript, turnStart, lastResponse: response, seq } = run;
      const { price } = provider.getCapabilities(options.model);
      return {
        state,
        startedAt,
        iterations,
        ...(deliveries === 0 ? {} : { deliveries }),
        usage,
        ...(price === undefined ? {} : { cost: costOf(usage, price) }),
        transcript: [...transcript],
        turnStart,
        ...(response === undefined ? {} : { response }),
        seq,
        ...loopProgress(),
      };
    },
    getCall: (id) => run.getCall(id),
  };
}
