/** The text of an answer that a stored run stands for: what its model wrote in all of its turns. */
import type { RunRecord } from '../../../domain/types/RunRecords';
import { TURN_SEPARATOR } from './AnswerWriter';

export function answerText({ input, transcript }: Pick<RunRecord, 'input' | 'transcript'>): string {
  const turns: string[] = [];
  let isNewTurn = true;
  for (const item of transcript.slice(input.length)) {
    if (item.type !== 'message' || item.role !== 'assistant') {
      // Results of tools are between two turns.
      isNewTurn ||= item.type === 'function_call_output' || item.type === 'message';
      continue;
    }
    const text = item.content.map((part) => (part.type === 'output_text' ? part.text : '')).join('');
    if (text === '') continue;
    if (isNewTurn) turns.push(text);
    else turns.push((turns.pop() ?? '') + text);
    isNewTurn = false;
  }
  return turns.join(TURN_SEPARATOR);
}
