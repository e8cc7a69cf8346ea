/** Meteor's check and Match (packages/check), including the record of checked arguments for audit-argument-checks. */
import { MeteorError } from '../server/MeteorError';
import { audited, noteChecked } from '../server/argumentAudit';

type Constructor = abstract new (...args: never[]) => unknown;
type Fields = Readonly<Record<string, unknown>>;

/** Exists only for the type. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- of what it matches
abstract class Matcher<T> {
  declare readonly matched: T;
}

// The classes and their fields are those of packages/check/match.js, where they are private, too.
class Optional<T> extends Matcher<T> {
  readonly pattern: unknown;

  constructor(pattern: unknown) {
    super();
    this.pattern = pattern;
  }
}
class Maybe<T> extends Optional<T> {}
class ObjectIncluding<T> extends Optional<T> {}
class ObjectWithValues<T> extends Optional<T> {}
class OneOf<T> extends Matcher<T> {
  readonly choices: readonly unknown[];

  constructor(choices: readonly unknown[]) {
    super();
    this.choices = choices;
  }
}
class Where<T> extends Matcher<T> {
  readonly condition: (value: unknown) => boolean;

  constructor(condition: (value: unknown) => boolean) {
    super();
    this.condition = condition;
  }
}

/** `Match.Any` and the like are lists of a text in Meteor; the type is what they match. */
function marker<T>(text: string): Matcher<T> {
  return [text] as unknown as Matcher<T>;
}

export type Pattern =
  | Constructor
  | StringConstructor
  | NumberConstructor
  | BooleanConstructor
  | ObjectConstructor
  | FunctionConstructor
  | string
  | number
  | boolean
  | null
  | undefined
  | readonly [Pattern]
  | Matcher<unknown>
  | { readonly [key: string]: Pattern };

export type PatternMatch<T> =
  T extends Matcher<infer Matched>
    ? Matched
    : T extends StringConstructor
      ? string
      : T extends NumberConstructor
        ? number
        : T extends BooleanConstructor
          ? boolean
          : T extends ObjectConstructor
            ? object
            : T extends string | number | boolean | null | undefined
              ? T
              : T extends abstract new (...args: never[]) => infer Instance
                ? Instance
                : T extends readonly [infer Element]
                  ? PatternMatch<Element>[]
                  : T extends { readonly [key: string]: Pattern }
                    ? { [Key in keyof T]: PatternMatch<T[Key]> }
                    : unknown;

class MatchError extends Error {
  readonly errorType = 'Match.Error';
  readonly path: string;
  /** The error that clients receive. */
  readonly sanitizedError = new MeteorError(400, 'Match failed');

  constructor(message: string, path = '') {
    super(`Match error: ${message}${path === '' ? '' : ` in field ${path}`}`);
    this.path = path;
  }
}

export const Match = {
  Any: marker<unknown>('__any__'),
  /** A signed 32-bit integer. */
  Integer: marker<number>('__integer__'),
  NonEmptyString: marker<string>('__NonEmptyString__'),
  Maybe: <T extends Pattern>(pattern: T) => new Maybe<PatternMatch<T> | null | undefined>(pattern),
  Optional: <T extends Pattern>(pattern: T) => new Optional<PatternMatch<T> | undefined>(pattern),
  OneOf<T extends readonly Pattern[]>(...patterns: T) {
    if (patterns.length === 0) throw new Error('Must provide at least one choice to Match.OneOf');
    return new OneOf<PatternMatch<T[number]>>(patterns);
  },
  Where: <T = unknown>(condition: (value: unknown) => boolean) => new Where<T>(condition),
  ObjectIncluding: <T extends { readonly [key: string]: Pattern }>(pattern: T) =>
    new ObjectIncluding<PatternMatch<T>>(pattern),
  ObjectWithValues: <T extends Pattern>(pattern: T) => new ObjectWithValues<Record<string, PatternMatch<T>>>(pattern),
  Error: MatchError,
  test: <T extends Pattern>(value: unknown, pattern: T): value is PatternMatch<T> =>
    mismatch(value, pattern) === undefined,
  /** Called by the DDP server if the app has audit-argument-checks. */
  _failIfArgumentsAreNotAllChecked: <Result>(
    run: (...args: never[]) => Result,
    context: unknown,
    args: readonly unknown[],
    description: string,
  ): Result => audited(() => run.apply(context, args as never[]), args, description),
};

/** @throws Match.Error */
export function check<T extends Pattern>(value: unknown, pattern: T): asserts value is PatternMatch<T> {
  noteChecked(value);
  const found = mismatch(value, pattern);
  if (found !== undefined) throw new MatchError(found.message, found.path);
}

interface Mismatch {
  readonly message: string;
  readonly path: string;
}

function mismatch(value: unknown, pattern: unknown): Mismatch | undefined {
  for (const [type, name] of TYPES)
    if (pattern === type) return typeof value === name ? undefined : failed(`Expected ${name}, got ${typeof value}`);
  if (pattern === null || ['string', 'number', 'boolean'].includes(typeof pattern))
    return value === pattern ? undefined : failed(`Expected ${String(pattern)}`);
  if (pattern instanceof Matcher) return mismatchOf(value, pattern);
  const marked = MARKED.get(pattern);
  if (marked !== undefined) return marked(value);
  if (pattern === Object) return objectMismatch(value, {}, true, undefined);
  if (Array.isArray(pattern)) return arrayMismatch(value, pattern);
  if (typeof pattern === 'function') return value instanceof pattern ? undefined : failed(`Expected ${pattern.name}`);
  if (typeof pattern !== 'object') return failed('Bad pattern: unknown pattern type');
  return objectMismatch(value, pattern as Fields, false, undefined);
}

const TYPES = [
  [String, 'string'],
  [Number, 'number'],
  [Boolean, 'boolean'],
  [Function, 'function'],
  [undefined, 'undefined'],
] as const;

const MARKED: ReadonlyMap<unknown, (value: unknown) => Mismatch | undefined> = new Map<
  unknown,
  (value: unknown) => Mismatch | undefined
>([
  [Match.Any, () => undefined],
  [
    Match.Integer,
    (value) => (typeof value === 'number' && (value | 0) === value ? undefined : failed('Expected Integer')),
  ],
  [
    Match.NonEmptyString,
    (value) => (typeof value === 'string' && value !== '' ? undefined : failed('Failed Match.Where validation')),
  ],
]);

const NO_CHOICE = 'Failed Match.OneOf, Match.Maybe or Match.Optional validation';

function mismatchOf(value: unknown, pattern: Matcher<unknown>): Mismatch | undefined {
  if (pattern instanceof Where) return whereMismatch(value, pattern.condition);
  if (pattern instanceof OneOf)
    return pattern.choices.some((choice) => mismatch(value, choice) === undefined) ? undefined : failed(NO_CHOICE);
  if (!(pattern instanceof Optional)) return failed('Bad pattern: unknown pattern type');
  const { pattern: inner } = pattern;
  if (pattern instanceof ObjectIncluding) return objectMismatch(value, inner as Fields, true, undefined);
  if (pattern instanceof ObjectWithValues) return objectMismatch(value, {}, true, inner);
  const isAbsent = value === undefined || (pattern instanceof Maybe && value === null);
  return isAbsent || mismatch(value, inner) === undefined ? undefined : failed(NO_CHOICE);
}

function whereMismatch(value: unknown, condition: (value: unknown) => boolean): Mismatch | undefined {
  try {
    return condition(value) ? undefined : failed('Failed Match.Where validation');
  } catch (error) {
    if (error instanceof MatchError) return failed(error.message, error.path);
    throw error;
  }
}

function arrayMismatch(value: unknown, pattern: readonly unknown[]): Mismatch | undefined {
  if (pattern.length !== 1) return failed('Bad pattern: arrays must have one type element');
  if (!Array.isArray(value)) return failed('Expected array');
  for (const [at, element] of value.entries()) {
    const found = mismatch(element, pattern[0]);
    if (found !== undefined) return failed(found.message, joined(`[${at}]`, found.path));
  }
  return undefined;
}

/**
 * Keys of Maybe and Optional may be missing. If present, their value must match the inner pattern, so
 * null and undefined don't match.
 */
function objectMismatch(value: unknown, pattern: Fields, allowsOthers: boolean, others: unknown): Mismatch | undefined {
  if (typeof value !== 'object' || value === null || !isPlain(value)) return failed('Expected plain object');
  const missing = new Set(Object.keys(pattern).filter((key) => !isOptional(pattern[key])));
  for (const [key, field] of Object.entries(value)) {
    const known = Object.hasOwn(pattern, key);
    if (!known && !allowsOthers) return failed('Unknown key', key);
    missing.delete(key);
    const wanted = known ? (isOptional(pattern[key]) ? pattern[key].pattern : pattern[key]) : others;
    if (!known && others === undefined) continue;
    const found = mismatch(field, wanted);
    if (found !== undefined) return failed(found.message, joined(key, found.path));
  }
  const [first] = missing;
  return first === undefined ? undefined : failed(`Missing key '${first}'`);
}

function isOptional(pattern: unknown): pattern is Optional<unknown> {
  return pattern instanceof Optional && !(pattern instanceof ObjectIncluding) && !(pattern instanceof ObjectWithValues);
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}

function joined(key: string, rest: string): string {
  return rest === '' || rest.startsWith('[') ? `${key}${rest}` : `${key}.${rest}`;
}

function failed(message: string, path = ''): Mismatch {
  return { message, path };
}
