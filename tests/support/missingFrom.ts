/** What one JSON value says and another does not. */

/**
 * @returns the paths of everything in `expected` that `actual` lacks or has otherwise; texts count without the
 * spaces around them
 */
export function missingFrom(actual: unknown, expected: unknown, path = '$'): readonly string[] {
  if (typeof expected !== 'object' || expected === null)
    return same(actual, expected) ? [] : [`${path} is ${shown(actual)}, not ${shown(expected)}`];
  if (typeof actual !== 'object' || actual === null) return [path];
  return Object.entries(expected).flatMap(([key, value]) =>
    missingFrom((actual as Record<string, unknown>)[key], value, `${path}.${key}`),
  );
}

/** What is not there at all has no JSON. */
function shown(value: unknown): string {
  return (value === undefined ? 'nothing' : JSON.stringify(value)).slice(0, 200);
}

function same(actual: unknown, expected: unknown): boolean {
  return typeof actual === 'string' && typeof expected === 'string'
    ? actual.trim() === expected.trim()
    : actual === expected;
}
