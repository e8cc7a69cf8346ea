/** Finds the turns in a transcript: each consecutive sequence of items that the model wrote. */
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';

export interface TranscriptTurn {
  readonly callIds: readonly string[];
  /** Ids of the calls whose results the model received before this turn. */
  readonly receivedResults: readonly string[];
}

export function splitTurns(items: readonly Item[]): readonly TranscriptTurn[] {
  const turns: { callIds: string[]; receivedResults: string[] }[] = [];
  let receivedResults: string[] = [];
  let isInTurn = false;
  for (const item of items) {
    const isFromModel = isModelItem(item);
    if (isFromModel && !isInTurn) turns.push({ callIds: [], receivedResults });
    if (isFromModel) receivedResults = [];
    isInTurn = isFromModel;
    if (item.type === 'function_call') turns.at(-1)?.callIds.push(item.call_id);
    if (item.type === 'function_call_output' && item.status !== 'in_progress') receivedResults.push(item.call_id);
  }
  return turns;
}

/** The model wrote the item. */
export function isModelItem(item: Item | undefined): boolean {
  return (
    item?.type === 'function_call' ||
    item?.type === 'reasoning' ||
    (item?.type === 'message' && item.role === 'assistant')
  );
}
