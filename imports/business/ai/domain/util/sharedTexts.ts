/**
 * Stores long texts once: a document that has the texts of a run's input refers to them. An input never changes until
 * its run is compacted or removed, before which the document gets its texts back.
 */

/** Characters of a text that is worth a reference. */
const MIN_LENGTH = 4_096;
/** Begins a reference, which the place of the text among the long ones of the input follows. */
const MARK = 'bolide:text-of-input:';

/** Returns whether JSON has a text that is worth a reference. */
export function hasLongTexts(json: string): boolean {
  return json.length >= MIN_LENGTH && longTextsIn(JSON.parse(json)).length > 0;
}

/**
 * @param json of the document's field
 * @param input of the run, as it is stored
 * @returns undefined if they have no long text in common
 */
export function withReferences(json: string, input: unknown): string | undefined {
  const places = new Map(longTextsIn(input).map((text, place) => [text, place]));
  let references = 0;
  const referring = JSON.stringify(JSON.parse(json), (_key, value: unknown) => {
    if (typeof value !== 'string') return value;
    const place = places.get(value);
    if (place === undefined) return value.startsWith(MARK) ? `${MARK}:${value}` : value;
    references += 1;
    return `${MARK}${place}`;
  });
  return references > 0 ? referring : undefined;
}

/** @param json what `withReferences` returned @param input of the same run */
export function withTexts(json: string, input: unknown): string {
  const texts = longTextsIn(input);
  return JSON.stringify(
    JSON.parse(json, (_key, value: unknown) => {
      if (typeof value !== 'string' || !value.startsWith(MARK)) return value;
      const place = value.slice(MARK.length);
      // The run is gone if its document was damaged, or removed by hand.
      return place.startsWith(':') ? place.slice(1) : (texts[Number(place)] ?? 'This text is no longer stored.');
    }),
  );
}

function longTextsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return value.length < MIN_LENGTH ? [] : [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(longTextsIn) : [];
}
