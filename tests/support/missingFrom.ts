/** What one JSON value says and another does not. */

/** @returns the paths of everything in `expected` that `actual` lacks or has otherwise; texts count without the spaces around them */
export function missingFrom(actual: unknown, expected: unknown, path = '$'): readonly string[] {
  if (typeof expected !== 'object' || expected === null) return same(actual, expected) ? [] : [`${path} is ${String(JSON.stringify(actual)).slice(0, 200)}, not ${JSON.stringify(expected).slice(0, 200)}`];
  if (typeof actual !== 'object' || actual === null) return [path];
  return Object.entries(expected).flatMap(([key, value]) => missingFrom((actual as Record<string, unknown>)[key], value, `${path}.${key}`));
}

function same(actual: unknown, expected: unknown): boolean {
  return typeof actual === 'string' && typeof expected === 'string' ? actual.trim() === expected.trim() : actual === expected;
}
