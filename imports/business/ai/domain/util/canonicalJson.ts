/** Texts that identify a JSON value. */
import { isList, isObject } from './json';

/** JSON whose keys are sorted, so that equal values have equal texts. */
export function canonicalJson(value: unknown): string {
  return JSON.stringify(sorted(value));
}

/** The value with sorted keys. With a replacer that sorts them, `JSON.stringify` takes several times as long. */
function sorted(value: unknown): unknown {
  // A date, for example. As in JSON, the form of an object is final: it may be the object itself.
  const form = hasToJson(value) ? value.toJSON() : value;
  if (isList(form)) return form.map((element) => sorted(element));
  if (!isObject(form)) return typeof form === 'function' ? undefined : form;
  // By entries, since a key may be `__proto__`.
  return Object.fromEntries(
    Object.keys(form)
      .sort()
      .map((key) => [key, sorted(form[key])]),
  );
}

function hasToJson(value: unknown): value is { toJSON(): unknown } {
  const isHolder = isObject(value) || typeof value === 'function';
  return isHolder && 'toJSON' in value && typeof value.toJSON === 'function';
}
