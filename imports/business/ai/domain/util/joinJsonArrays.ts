/** @param first JSON of an array, without spaces around it; likewise `second` @returns JSON of the elements of both */
export function joinJsonArrays(first: string, second: string): string {
  if (first === '[]') return second;
  return second === '[]' ? first : `${first.slice(0, -1)},${second.slice(1)}`;
}
