/** How a text is cut into the deltas of a stream. */

/** Word by word, each with the space after it. */
export function words(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? (text === '' ? [] : [text]);
}

/** Pieces of `size` characters, never inside one. */
export function pieces(text: string, size: number): readonly string[] {
  const characters = Array.from(text);
  return Array.from({ length: Math.ceil(characters.length / size) }, (_, index) =>
    characters.slice(index * size, (index + 1) * size).join(''),
  );
}

/** `size` words at a time. */
export function phrases(text: string, size: number): readonly string[] {
  const all = words(text);
  return Array.from({ length: Math.ceil(all.length / size) }, (_, index) =>
    all.slice(index * size, (index + 1) * size).join(''),
  );
}
