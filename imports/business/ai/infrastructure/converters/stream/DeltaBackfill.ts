/**
 * Generates the missing deltas of items whose text was never streamed. Some vendors send an item only once it is
 * complete; without these deltas its text would be lost.
 */
import type { OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';

type TextDelta = Extract<ResponseStreamEvent, { readonly delta: string }>;

export class DeltaBackfill {
  private readonly streamed = new Set<number>();
  private lastIndex = -1;

  /** Records that the item at this index has received a delta. */
  noteDelta(output_index: number): void {
    if (output_index === this.lastIndex) return;
    this.lastIndex = output_index;
    this.streamed.add(output_index);
  }

  /** @returns the item's text as deltas, or none if the item was streamed */
  missingDeltas(output_index: number, item: OutputItem): readonly TextDelta[] {
    if (this.streamed.has(output_index)) return NONE;
    switch (item.type) {
      case 'message':
        return item.content.flatMap((part): TextDelta[] => {
          if (part.type === 'output_text' && part.text !== '')
            return [{ type: 'response.output_text.delta', output_index, delta: part.text }];
          if (part.type === 'refusal' && part.refusal !== '')
            return [{ type: 'response.refusal.delta', output_index, delta: part.refusal }];
          return [];
        });
      case 'reasoning':
        return [...item.summary, ...(item.content ?? [])].flatMap((part, content_index): TextDelta[] =>
          part.text === ''
            ? []
            : [
                {
                  type: 'response.reasoning.delta',
                  output_index,
                  delta: part.text,
                  summary: part.type === 'summary_text',
                  content_index,
                },
              ],
        );
      default:
        return NONE;
    }
  }
}

const NONE: readonly TextDelta[] = [];
