/** Chooses the content coding of a response: https://www.rfc-editor.org/rfc/rfc9110#section-12.5.3 */

/** In the order that Bolide prefers where a client has no preference: the smallest first. */
export const CONTENT_ENCODINGS = ['br', 'gzip', 'identity'] as const;
export type ContentEncoding = (typeof CONTENT_ENCODINGS)[number];

/**
 * The smallest wins among equal weights: browsers name gzip before br.
 * @param accepted the header `accept-encoding`
 * @returns the acceptable one with the highest weight; `identity` if none is acceptable
 */
export function preferredEncoding(accepted = '', available: readonly ContentEncoding[]): ContentEncoding {
  const weights = new Map(accepted.toLowerCase().split(',').map(readWeight));
  // Without encoding is acceptable unless the client says otherwise.
  const weightOf = (encoding: ContentEncoding): number =>
    weights.get(encoding) ?? weights.get('*') ?? (encoding === 'identity' ? Number.MIN_VALUE : 0);
  const [best = 'identity'] = CONTENT_ENCODINGS.filter(
    (encoding) => available.includes(encoding) && weightOf(encoding) > 0,
  ).toSorted((one, other) => weightOf(other) - weightOf(one));
  return best;
}

/** Reads `gzip;q=0.5`. An invalid weight is none. */
function readWeight(entry: string): readonly [encoding: string, weight: number] {
  const [encoding = '', ...parameters] = entry.split(';').map((part) => part.trim());
  const weight = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
  return [encoding, weight === undefined ? 1 : Number(weight) || 0];
}
