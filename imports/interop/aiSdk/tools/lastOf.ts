/**
 * The last value of a function that may yield several.
 * @param onPreliminary receives every value that another one follows
 * @throws the signal's reason once it fires, after which the function is asked for no more values
 */
export async function lastOf(
  result: unknown,
  signal: AbortSignal,
  onPreliminary: (value: unknown) => void,
): Promise<unknown> {
  if (!isAsyncIterable(result)) return result;
  let last: unknown;
  let isFirst = true;
  for await (const value of result) {
    signal.throwIfAborted();
    if (!isFirst) onPreliminary(last);
    last = value;
    isFirst = false;
  }
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
