/**
 * The schemas of arguments, in valibot: what operations use beyond `v` itself. A message completes a sentence that
 * begins with the field, such as `must be one line`; `readArgument` makes the sentence.
 */
import * as v from 'valibot';
import type { ArgumentReader } from '../business/ai/domain/util/arguments';
import { invalid, isPlainObject } from '../business/ai/domain/util/arguments';
import { LLMInvalidRequestError } from '../business/ai/domain/errors/LLMErrors';
import { isList } from '../business/ai/domain/util/json';
import type { JsonObject } from '../business/ai/domain/types/VendorTypes';

/** The input is JSON; fields that are undefined are absent. */
export type ArgumentSchema = v.GenericSchema;

/** Exactly these fields: another one is refused, and so is anything but a plain object. */
export function object<const E extends v.ObjectEntries>(
  entries: E,
): v.StrictObjectSchema<E, v.ErrorMessage<v.StrictObjectIssue>> {
  const names = Object.keys(entries);
  const schema = v.strictObject(entries, ({ expected }) => {
    if (expected === UNKNOWN_FIELD)
      return names.length === 0 ? 'No fields are expected here.' : `Expected one of: ${names.join(', ')}.`;
    return expected === 'Object' ? 'must be an object' : 'is required';
  });
  // Lists and instances of classes are objects to valibot, and fields that are undefined are there.
  return converted(schema, givenFields);
}

/** What an issue expects where there is a field that is not among those of its object. */
export const UNKNOWN_FIELD = 'never';

/** An id or a name: neither blanks nor invisible characters. */
export function identifier(maxLength: number) {
  const message = `must be 1 to ${maxLength} visible characters without spaces`;
  return v.pipe(v.string(message), v.maxLength(maxLength, message), v.regex(/^[^\s\p{C}]+$/u, message));
}

/** Any string, the empty one included. */
export function text(maxLength: number) {
  return v.pipe(v.string('must be a string'), v.maxLength(maxLength, `must be no longer than ${maxLength} characters`));
}

/** One line for people to read, such as a name: not blank, and without control characters or lone surrogates. */
export function line(maxLength: number) {
  return v.pipe(
    text(maxLength),
    v.check((given) => given.trim() !== '', 'must not be blank'),
    v.check(
      (given) => !/\p{Cc}/u.test(given) && given.isWellFormed(),
      'must be one line of plain text without control characters',
    ),
  );
}

/** A credential that is sent in an HTTP header, hence printable ASCII. */
export function secret(maxLength: number) {
  const message = `must be 1 to ${maxLength} printable ASCII characters without spaces`;
  return v.pipe(v.string(message), v.maxLength(maxLength, message), v.regex(/^[\x21-\x7e]+$/, message));
}

export function integer(min: number, max: number) {
  const message = `must be an integer from ${min} to ${max}`;
  return v.pipe(v.number(message), v.safeInteger(message), v.minValue(min, message), v.maxValue(max, message));
}

export function numberBetween(min: number, max: number) {
  const message = `must be a number from ${min} to ${max}`;
  return v.pipe(v.number(message), v.minValue(min, message), v.maxValue(max, message));
}

export const boolean = v.boolean('must be true or false');

export const time = v.pipe(integer(0, Number.MAX_SAFE_INTEGER), v.description('Milliseconds since the epoch.'));

export function oneOf<const T extends readonly string[]>(values: T): v.PicklistSchema<T, string> {
  return v.picklist(values, `must be one of: ${values.join(', ')}`);
}

/** A text or another form. What is wrong is told of the form that is given, which a union does not know. */
export function textOr<const T extends v.GenericSchema<string, unknown>, const O extends v.GenericSchema>(
  whole: T,
  other: O,
): v.UnionSchema<[T, O], undefined> {
  return {
    ...v.union([whole, other]),
    '~run': (dataset, config) => (typeof dataset.value === 'string' ? whole : other)['~run'](dataset, config),
  };
}

export function listOf<const S extends v.GenericSchema>(maxLength: number, entry: S) {
  return v.pipe(v.array(entry, 'must be a list'), v.maxLength(maxLength, `must have at most ${maxLength} entries`));
}

/** One of these texts or a list of them; a list in any case once it is read. */
export function listOrOne<const T extends readonly string[]>(values: T) {
  const list = converted(listOf(values.length, oneOf(values)), (value) => (isList(value) ? value : [value]));
  const described = v.pipe(list, v.description('One or a list; in a query, separated by commas.'));
  // The list's own type of input does not have what is converted.
  return described as v.GenericSchema<unknown, T[number][]> as v.GenericSchema<T[number] | T[number][], T[number][]>;
}

/** The same schema, for what `convert` makes of a value: of a form that is accepted besides the one it describes. */
export function converted<S extends v.GenericSchema>(schema: S, convert: (value: unknown) => unknown): S {
  return {
    ...schema,
    '~run': (dataset, config) => schema['~run']({ ...dataset, value: convert(dataset.value) }, config),
  };
}

/**
 * A field that is checked where it is understood.
 * @param jsonSchema what the documentation says of it
 */
export function checkedLater(jsonSchema: JsonObject) {
  return v.pipe(v.unknown(), v.metadata({ jsonSchema }));
}

/**
 * A field that code reads.
 * @param path where the field is in the argument
 * @param jsonSchema what the documentation says of it
 */
export function readBy<T>(path: string, read: ArgumentReader<T>, jsonSchema: JsonObject) {
  return v.pipe(
    v.unknown(),
    v.metadata({ jsonSchema }),
    v.transform((value): T => read(value, path)),
  );
}

/**
 * @returns the argument with its type
 * @throws LLMInvalidRequestError for the first field that is wrong, which its `path` names
 */
export function readArgument<S extends ArgumentSchema>(schema: S, argument: unknown): v.InferOutput<S> {
  const { success, output, issues } = v.safeParse(schema, argument, { abortEarly: true });
  if (success) return output;
  const [{ message, expected, path = [] }] = issues;
  const name = pathText(path.map(({ key }) => key));
  if (expected === UNKNOWN_FIELD)
    throw new LLMInvalidRequestError(`Unknown field "${name}". ${message}`, { path: name });
  throw invalid(name, message);
}

/** Characters of a client's field name that a message repeats. */
const MAX_NAME_SHOWN = 60;

/** `limits.day`, `tools[2]` */
export function pathText(keys: readonly unknown[]): string {
  return keys.reduce<string>((path, key) => {
    if (typeof key === 'number') return `${path}[${key}]`;
    const name = String(key).slice(0, MAX_NAME_SHOWN);
    return path === '' ? name : `${path}.${name}`;
  }, '');
}

/** @returns undefined for what is no plain object */
function givenFields(value: unknown): JsonObject | undefined {
  if (!isPlainObject(value)) return undefined;
  return Object.fromEntries(Object.entries(value).filter(([, field]) => field !== undefined));
}
