/** The texts of an item, as the AI SDK has them: blocks of text and of reasoning. */
import type { LanguageModelV4Citation } from '@ai-sdk/provider';
import type { CarriedItem } from './carriedItem';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

/** A text or reasoning part. Streams write it as a start, deltas and an end. */
export interface TextBlock {
  readonly type: 'text' | 'reasoning';
  /** The block's place in its item. */
  readonly list: TextList;
  readonly index: number;
  readonly text: string;
  readonly citations: readonly LanguageModelV4Citation[];
  readonly carried: CarriedItem;
}

/** The lists of an item that texts are in. */
export type TextList = 'content' | 'summary';

/**
 * One block for several of the same list, as a wire streams them that does not number the parts of an item.
 * @returns undefined if the streamed text is not theirs
 */
export function mergeBlocks(blocks: readonly TextBlock[], streamed: string): TextBlock | undefined {
  const [first] = blocks;
  if (first === undefined || blocks.map(({ text }) => text).join('') !== streamed) return undefined;
  let offset = 0;
  const citations = blocks.flatMap((block) => {
    const start = offset;
    offset += block.text.length;
    return block.citations.map((citation) => shift(citation, start));
  });
  const { item } = first.carried;
  const parts = blocks.map(({ text, carried }) => ({ length: text.length, part: carried.part ?? {} }));
  return { ...first, text: streamed, citations, carried: omitUndefined({ item, parts }) };
}

function shift(citation: LanguageModelV4Citation, offset: number): LanguageModelV4Citation {
  const { startIndex, endIndex } = citation;
  return {
    ...citation,
    ...omitUndefined({
      startIndex: startIndex === undefined ? undefined : startIndex + offset,
      endIndex: endIndex === undefined ? undefined : endIndex + offset,
    }),
  };
}
