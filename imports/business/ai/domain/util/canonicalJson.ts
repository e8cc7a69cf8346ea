/** Texts that identify a JSON value. */
import { isList, isObject } from './json';

/** JSON whose keys are sorted, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** The value with sorted keys. With a replacer that sorts them, `JSON.stringify` takes several times as long. */
function sorted(value: unknown): unknown {
  if (isList(value)) return value.map((element) => sorted(element));
  if (!isObject(value)) return value;
  // A date, for example.
  if (hasToJson(value)) return sorted(value.toJSON());
  // By entries, since a key may be `__proto__`.
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key])]),
  );
}

function hasToJson(value: object): value is { toJSON(): unknown } {
  return 'toJSON' in value && typeof value.toJSON === 'function';
}
