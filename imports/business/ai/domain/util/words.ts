/** Loads dictionaries, which takes a tenth of the time of importing Bolide. */
let segmenter: Intl.Segmenter | undefined;

/** In every script, also those without spaces; without case and accents. */
export function wordsOf(text: string): string[] {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: 'word' });
  const words: string[] = [];
  for (const { segment, isWordLike } of segmenter.segment(text))
    if (isWordLike === true)
      words.push(
        segment
          .normalize('NFKD')
          .replace(/\p{M}+/gu, '')
          .toLowerCase(),
      );
  return words;
}
