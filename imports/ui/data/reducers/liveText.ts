/** What of a run's live text is not in its transcript yet. */
import { isFinished } from '../../../business/ai/domain/entities/Run';
import type { RunState } from '../../../business/ai/domain/entities/Run';
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { DeltaView } from '../../../business/ai/domain/types/RunViews';
import type { WatchedRun } from '../DashboardData';

/** The pieces of a run are all that it said; what its transcript holds was said before. */
export function liveText(deltas: readonly DeltaView[], items: readonly Item[], state: RunState): WatchedRun['live'] {
  if (isFinished(state)) return { text: '', reasoning: '' };
  const inOrder = deltas.toSorted((a, b) => a.seq - b.seq);
  const join = (isWanted: (delta: DeltaView) => boolean): string =>
    inOrder
      .filter(isWanted)
      .map((delta) => delta.text)
      .join('');
  const said = lengthsOf(items);
  return {
    text: join((delta) => delta.kind !== 'reasoning').slice(said.text),
    reasoning: join((delta) => delta.kind === 'reasoning').slice(said.reasoning),
  };
}

function lengthsOf(items: readonly Item[]): { text: number; reasoning: number } {
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
