/** What a run has added to the conversation that it was given. */
import type { Item } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { RunDetailView } from '../../../business/ai/domain/types/RunViews';
import { parseItems } from './parseItems';

/** A transcript starts with the run's input, which may contain earlier responses of the model. */
export function outputItems({ input, transcript }: Pick<RunDetailView, 'input' | 'transcript'>): readonly Item[] {
  return parseItems(transcript).slice(parseItems(input).length);
}
