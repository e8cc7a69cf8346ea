/** What a journal writes down of a run, as it stands at the moment of writing. */
import { costOf } from '../../../../domain/entities/Response';
import type { RunProgress } from '../../../../domain/types/RunRecords';
import type { SnapshotSource } from './RunJournal';
import type { RunContext } from '../RunContext';

/**
 * @param startedAt milliseconds since the epoch
 * @param driven what its driver knows of it
 */
export function runSnapshot(
  { execution, provider, options }: RunContext,
  startedAt: number,
  driven: () => Pick<RunProgress, 'isCalling' | 'failedTurns' | 'worked' | 'takeovers'>,
): SnapshotSource {
  return {
    progress: () => {
      const { state, iterations, usage, transcript, turnStart, lastResponse: response, seq } = execution;
      const { price } = provider.getCapabilities(options.model);
      return {
        state,
        startedAt,
        iterations,
        usage,
        ...(price === undefined ? {} : { cost: costOf(usage, price) }),
        transcript: [...transcript],
        turnStart,
        ...(response === undefined ? {} : { response }),
        seq,
        ...driven(),
      };
    },
    call: (id) => execution.call(id),
  };
}
