/** Splits a text into the deltas of a stream. */

/** Word by word, each with the whitespace after it. */
export function splitWords(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);
}

/** Chunks of `size` characters; surrogate pairs stay together. */
export function splitCharacters(text: string, size: number): readonly string[] {
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}

/** `size` words at a time. */
export function splitPhrases(text: string, size: number): readonly string[] {
  const all = splitWords(text);
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size).join(''),
  );
}
