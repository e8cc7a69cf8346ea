/** The streamed text of a run, and the part of it that its transcript does not contain yet. */
import { isFinished } from '../../../business/ai/domain/entities/Run';
import type { RunState } from '../../../business/ai/domain/entities/Run';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { DeltaView } from '../../../business/ai/domain/types/RunViews';
import type { LiveText } from '../DashboardData';

/**
 * A run's deltas hold everything that it has streamed, so the text of its output is a prefix of theirs.
 * @param output the items that the run has added to its input
 */
export function deriveLiveText(deltas: readonly DeltaView[], output: readonly Item[], state: RunState): LiveText {
  if (isFinished(state)) return { text: '', reasoning: '' };
  const streamed = joinDeltas(deltas);
  const finished = joinItems(output);
  return {
    text: streamed.text.slice(finished.text.length),
    reasoning: streamed.reasoning.slice(finished.reasoning.length),
  };
}

export function joinDeltas(deltas: readonly DeltaView[]): LiveText {
  const inOrder = deltas.toSorted((a, b) => a.seq - b.seq);
  const join = (isIncluded: (delta: DeltaView) => boolean): string =>
    inOrder
      .filter(isIncluded)
      .map((delta) => delta.text)
      .join('');
  return { text: join(({ kind }) => kind !== 'reasoning'), reasoning: join(({ kind }) => kind === 'reasoning') };
}

export function joinItems(items: readonly Item[]): LiveText {
  let text = '';
  let reasoning = '';
  for (const item of items) {
    if (item.type === 'reasoning')
      for (const part of [...item.summary, ...(item.content ?? [])]) reasoning += part.text;
    if (item.type !== 'message' || item.role !== 'assistant') continue;
    for (const part of item.content) {
      if (part.type === 'output_text') text += part.text;
      else if (part.type === 'refusal') text += part.refusal;
    }
  }
  return { text, reasoning };
}
