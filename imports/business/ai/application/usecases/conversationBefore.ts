/** The conversation before a request that continues, repeats or forks an earlier run. */
import { isFinished } from '../../domain/entities/Run';
import { ConflictError, LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { RunStore } from '../../domain/interfaces/RunStore';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Actor } from '../../domain/types/Actor';
import type { RunCompaction } from '../../domain/types/Compaction';
import type { Item, FunctionCallItem } from '../../domain/types/ResponsesAPITypes';
import type { RunRecord } from '../../domain/types/RunRecords';
import { forkedConversation } from './forkedConversation';

/** The earlier run that a request follows; one of these at most. */
export interface FollowedRuns {
  /** An ended run of the same user: its conversation comes before the input. */
  readonly continues?: string;
  /** A run of the same user, whose input is used again. `input` is empty. */
  readonly repeats?: string;
  /** A run whose conversation before one of its model calls comes before the input. Admins may name any user's run. */
  readonly forkOf?: RunFork;
  /**
   * A run that this one starts anew with an input of its own, ended or not. Only recorded: it need not be retried any
   * more. Admins may name any user's run.
   */
  readonly startedFrom?: string;
}

export interface RunFork {
  readonly executionId: string;
  /** The number of the model call, from 1. */
  readonly turn: number;
}

export interface ConversationBefore {
  readonly items: readonly Item[];
  /** What the earlier run has compacted of them. */
  readonly compaction?: RunCompaction;
}

/** @throws LLMInvalidRequestError for an unknown run; ConflictError for one that has not ended */
export async function conversationBefore(
  { userId, isAdmin = false }: Actor,
  { continues, repeats, forkOf, startedFrom }: FollowedRuns,
  runs: Pick<RunStore, 'load'>,
): Promise<ConversationBefore> {
  const loadAccessible = async (executionId: string, path: string): Promise<RunRecord> => {
    const run = (await runs.load(executionId))?.run;
    if (run === undefined || (run.userId !== userId && !isAdmin))
      throw new LLMInvalidRequestError(`There is no run "${executionId}".`, { path });
    return run;
  };
  if (startedFrom !== undefined) await loadAccessible(startedFrom, 'startedFrom');
  if (forkOf !== undefined)
    return { items: forkedConversation(await loadAccessible(forkOf.executionId, 'forkOf.executionId'), forkOf.turn) };
  const executionId = continues ?? repeats;
  if (executionId === undefined) return { items: [] };
  const run = (await runs.load(executionId))?.run;
  const path = continues === undefined ? 'repeats' : 'continues';
  // Another user's run is indistinguishable from an unknown one.
  if (run?.userId !== userId) throw new LLMInvalidRequestError(`There is no run "${executionId}".`, { path });
  if (!isFinished(run.state))
    throw new ConflictError(`The run "${executionId}" has not ended. Wait for its end, or cancel it.`, { path });
  if (continues === undefined) return { items: run.input };
  const { transcript, compaction } = run;
  return omitUndefined({ items: continuableTranscript(transcript), compaction });
}

export function followedRunOf({ continues, repeats, forkOf, startedFrom }: FollowedRuns): string | undefined {
  return continues ?? repeats ?? forkOf?.executionId ?? startedFrom;
}

/** Vendors require an output for every call, and a run that was cut off may have left some without one. */
function continuableTranscript(transcript: readonly Item[]): readonly Item[] {
  const answered = new Set(transcript.flatMap((item) => (item.type === 'function_call_output' ? [item.call_id] : [])));
  const unanswered = transcript.filter(
    (item): item is FunctionCallItem => item.type === 'function_call' && !answered.has(item.call_id),
  );
  return [
    ...transcript,
    ...unanswered.map(({ call_id, name }): Item => ({
      type: 'function_call_output',
      call_id,
      output: 'Error: The run ended before the call did.',
      status: 'completed',
      name,
      state: 'cancelled',
    })),
  ];
}
