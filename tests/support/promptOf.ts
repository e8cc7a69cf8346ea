/** The part of a request that the vendor makes the prompt of: deferred tools are in the request only. */
export function promptOf(body: unknown): string {
  const isDeferred = (value: unknown): boolean =>
    typeof value === 'object' && value !== null && 'defer_loading' in value && value.defer_loading === true;
  return JSON.stringify(body, (_key, value: unknown) =>
    Array.isArray(value) ? value.filter((each) => !isDeferred(each)) : value,
  );
}
