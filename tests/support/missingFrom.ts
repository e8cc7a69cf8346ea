/** Finds what one JSON value contains and another does not. */

/** Returns the paths of everything in `expected` that `actual` lacks or contradicts. Strings are compared trimmed. */
export function missingFrom(actual: unknown, expected: unknown, path = '$'): readonly string[] {
  if (typeof expected !== 'object' || expected === null)
    return isSame(actual, expected) ? [] : [`${path} is ${format(actual)}, not ${format(expected)}`];
  if (typeof actual !== 'object' || actual === null) return [path];
  return Object.entries(expected).flatMap(([key, value]) =>
    missingFrom((actual as Record<string, unknown>)[key], value, `${path}.${key}`),
  );
}

/** A missing value has no JSON representation. */
function format(value: unknown): string {
  return (value === undefined ? 'nothing' : JSON.stringify(value)).slice(0, 200);
}

function isSame(actual: unknown, expected: unknown): boolean {
  return typeof actual === 'string' && typeof expected === 'string'
    ? actual.trim() === expected.trim()
    : actual === expected;
}
