/** The streamed text of a run that its transcript does not contain yet. */
import { isFinished } from '../../../business/ai/domain/entities/Run';
import type { RunState } from '../../../business/ai/domain/entities/Run';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { DeltaView } from '../../../business/ai/domain/types/RunViews';
import type { LiveText } from '../DashboardData';

/** A run's deltas hold everything that it has streamed, so the text of its transcript is a prefix of theirs. */
export function deriveLiveText(deltas: readonly DeltaView[], items: readonly Item[], state: RunState): LiveText {
  if (isFinished(state)) return { text: '', reasoning: '' };
  const inOrder = deltas.toSorted((a, b) => a.seq - b.seq);
  const join = (isIncluded: (delta: DeltaView) => boolean): string =>
    inOrder
      .filter(isIncluded)
      .map((delta) => delta.text)
      .join('');
  const finished = textLengths(items);
  return {
    text: join((delta) => delta.kind !== 'reasoning').slice(finished.text),
    reasoning: join((delta) => delta.kind === 'reasoning').slice(finished.reasoning),
  };
}

function textLengths(items: readonly Item[]): { text: number; reasoning: number } {
  let text = 0;
  let reasoning = 0;
  for (const item of items) {
    if (item.type === 'reasoning')
      for (const part of [...item.summary, ...(item.content ?? [])]) reasoning += part.text.length;
    if (item.type !== 'message' || item.role !== 'assistant') continue;
    for (const part of item.content) {
      if (part.type === 'output_text') text += part.text.length;
      else if (part.type === 'refusal') text += part.refusal.length;
    }
  }
  return { text, reasoning };
}
