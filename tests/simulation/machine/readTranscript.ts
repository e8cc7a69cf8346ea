/** What a transcript says of the calls in it. */
import type { Item } from '../../../imports/business/ai/domain/types/ResponsesAPITypes';
import { INPUT, isAnswer } from './ScriptedModel';

export interface CallInTranscript {
  readonly name: string;
  isAcknowledged: boolean;
  results: number;
  /** Where the first result is. */
  resultAt: number;
  output: unknown;
  /** The call's state, as the result names it. */
  state: string | undefined;
}

export interface ReadTranscript {
  /** Calls of the run by their ids. */
  readonly calls: ReadonlyMap<string, CallInTranscript>;
  /** Where the answers of the run begin. */
  readonly answers: readonly number[];
  /** How many turns failed one after another, at the end of the transcript. */
  readonly failedTurns: number;
}

export function readTranscript(items: readonly Item[]): ReadTranscript {
  const calls = new Map<string, CallInTranscript>();
  const answers: number[] = [];
  let failedTurns = 0;
  let left = 0;
  let allFailed = true;
  for (let index = INPUT.length; index < items.length; index += 1) {
    const item = items[index]!;
    if (item.type === 'function_call') {
      calls.set(item.call_id, {
        name: item.name,
        isAcknowledged: false,
        results: 0,
        resultAt: -1,
        output: undefined,
        state: undefined,
      });
      left += 1;
    } else if (item.type === 'function_call_output') {
      const call = calls.get(item.call_id);
      if (call === undefined) continue;
      if (item.status === 'in_progress') call.isAcknowledged = true;
      else {
        if (call.results === 0) call.resultAt = index;
        call.results += 1;
        call.output = item.output;
        call.state = item.state;
      }
      if (item.deferred === true) continue;
      if (item.state !== 'failed' && item.state !== 'timeout') allFailed = false;
      left -= 1;
      if (left === 0) failedTurns = allFailed ? failedTurns + 1 : 0;
    } else if (isAnswer(item)) {
      answers.push(index);
      left = 0;
      allFailed = true;
    }
  }
  return { calls, answers, failedTurns };
}
