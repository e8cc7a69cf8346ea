const SEGMENTER = new Intl.Segmenter(undefined, { granularity: 'word' });

/** In every script, also those without spaces; without case and accents. */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const { segment, isWordLike } of SEGMENTER.segment(text))
    if (isWordLike === true)
      words.push(
        segment
          .normalize('NFKD')
          .replace(/\p{M}+/gu, '')
          .toLowerCase(),
      );
  return words;
}
