/** The mixed runs' model, whose answers name themselves, so that each is found in the transcripts that contain it. */
import type { Item, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';
import { textItem } from '../../imports/testing/responses';
import { mixedAnswer } from '../support/durable/mixedModel';
import { turnsOf } from './handoffs';
import type { PlannedRun } from './Plan';

const MARK = 'Answer ';

export function simulatedAnswer(input: readonly Item[], id: string, run: Pick<PlannedRun, 'handsOver'>): LLMResponse {
  const answer = mixedAnswer(input, turnsOf(run));
  return {
    ...answer,
    id,
    output: [textItem(`${MARK}${id}`), ...answer.output],
  };
}

/** The id of the answer that begins with this item. @returns undefined if none does */
export function answerAt(item: Item): string | undefined {
  if (item.type !== 'message' || item.role !== 'assistant' || typeof item.content === 'string') return undefined;
  const [part] = item.content;
  return part?.type === 'output_text' && part.text.startsWith(MARK) ? part.text.slice(MARK.length) : undefined;
}
