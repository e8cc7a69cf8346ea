/** Compares two texts by words, or by lines if they are long. */
import { diffLines, diffWordsWithSpace } from 'diff';

export interface TextPart {
  readonly text: string;
  readonly side: 'both' | 'left' | 'right';
}

/** @returns undefined if they differ so much that a comparison would take too long */
export function diffTexts(left: string, right: string): readonly TextPart[] | undefined {
  const options = { timeout: TIMEOUT_MS };
  const isLong = left.length + right.length > MAX_WORD_CHARACTERS;
  const changes = isLong ? diffLines(left, right, options) : diffWordsWithSpace(left, right, options);
  return changes?.map(({ value, added, removed }) => ({
    text: value,
    side: added ? 'right' : removed ? 'left' : 'both',
  }));
}

const TIMEOUT_MS = 400;
const MAX_WORD_CHARACTERS = 20_000;
