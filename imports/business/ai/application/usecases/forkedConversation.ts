/** The conversation of a run as it was before one of its model calls, as the beginning of another run's input. */
import { ConflictError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { Item } from '../../domain/types/ResponsesAPITypes';
import type { RunRecord } from '../../domain/types/RunRecords';
import { turnsOf } from '../services/replayRun';

/**
 * Consecutive responses without results between them count as one, as they do in the run's events.
 * @param turn the number of the model call, from 1; the one after the last has the entire conversation before it
 * @throws LLMInvalidRequestError for a turn that the run never reached; ConflictError if the run's conversation is no
 *   longer stored
 */
export function forkedConversation(
  { input, transcript, iterations, isCalling }: Pick<RunRecord, 'input' | 'transcript' | 'iterations' | 'isCalling'>,
  turn: number,
): readonly Item[] {
  if (turn === 1) return input;
  const turns = turnsOf(transcript.slice(input.length));
  const responses = iterations - (isCalling ? 1 : 0);
  if (turn > responses + 1)
    throw new LLMInvalidRequestError(`The run has made ${responses} model calls, so turn ${turn} does not exist yet.`, {
      path: 'forkOf.turn',
    });
  // The first turns may have been merged.
  const before = turn - 1 - (responses - turns.length);
  if (turns.length < responses && transcript.every(({ type }) => type === 'message'))
    throw new ConflictError("The beginnings of the run's turns are not stored.", { path: 'forkOf.executionId' });
  const items = turns.slice(0, Math.max(before, 0)).flatMap(({ output, since }) => [...output, ...since]);
  return [...input, ...withoutPromises(items)];
}

/** A result that was announced and is not part of the fork will never arrive. */
function withoutPromises(items: readonly Item[]): readonly Item[] {
  const delivered = new Set(
    items.flatMap((item) => (item.type === 'function_call_output' && item.deferred === true ? [item.call_id] : [])),
  );
  return items.map((item) => {
    if (item.type !== 'function_call_output' || item.status !== 'in_progress' || delivered.has(item.call_id))
      return item;
    return { ...item, status: 'completed', state: 'cancelled', output: 'Error: The call was cancelled.' };
  });
}
