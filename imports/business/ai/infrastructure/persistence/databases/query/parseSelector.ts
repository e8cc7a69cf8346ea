/**
 * Selectors as the port has them and no further, so that no operator reaches a database that another store would
 * not know.
 */
import type { Selector } from '../../../../domain/interfaces/DocumentCollection';
import { isPlainObject, splitPath } from './fieldPaths';
import { refused } from '../../documents/refused';
import { asScalar } from './scalars';
import type { Scalar } from './scalars';

export interface FieldTests {
  readonly $lt?: Scalar;
  readonly $lte?: Scalar;
  readonly $gt?: Scalar;
  readonly $gte?: Scalar;
  readonly $in?: readonly Scalar[];
  readonly $nin?: readonly Scalar[];
  readonly $ne?: Scalar;
  readonly $exists?: boolean;
}
/** `$or` and `$and` hold selectors, every other key is a path. */
export interface CheckedSelector {
  readonly [key: string]: Scalar | FieldTests | readonly CheckedSelector[];
}

const MAX_DEPTH = 10;
const TESTS = {
  $lt: ordered,
  $lte: ordered,
  $gt: ordered,
  $gte: ordered,
  $in: scalars,
  $nin: scalars,
  $ne: asScalar,
  $exists: flag,
} as const satisfies Record<keyof FieldTests, (value: unknown, path: string) => Scalar | readonly Scalar[]>;

/**
 * A checked copy. A value is compared if it is a scalar; an object must consist of operators; anything else
 * (`undefined` above all, which MongoDB would read as "no condition") is refused.
 * @throws LLMInvalidRequestError
 */
export function readSelector(selector: Selector, depth = MAX_DEPTH): CheckedSelector {
  if (!isPlainObject(selector)) throw refused('selector', 'is not a plain object');
  if (depth === 0) throw refused('selector', 'is nested too deeply');
  const checked: Record<string, CheckedSelector[string]> = {};
  for (const [key, value] of Object.entries(selector)) {
    if (key === '$or' || key === '$and') {
      if (!Array.isArray(value) || value.length === 0) throw refused(key, 'takes a list of selectors');
      checked[key] = value.map((part: unknown) => readSelector(asSelector(part), depth - 1));
    } else {
      splitPath(key, 'selector');
      checked[key] = isPlainObject(value) ? readTests(value, key) : asScalar(value, key);
    }
  }
  return checked;
}

function asSelector(part: unknown): Selector {
  if (!isPlainObject(part)) throw refused('selector', 'is not a plain object');
  return part;
}

function readTests(tests: Readonly<Record<string, unknown>>, path: string): FieldTests {
  const entries = Object.entries(tests).map(([operator, value]) => {
    if (!isOperator(operator))
      throw refused(
        path,
        `is compared with an object or an operator that stores don't share: ${operator.slice(0, 40)}`,
      );
    return [operator, TESTS[operator](value, path)];
  });
  if (entries.length === 0) throw refused(path, 'is compared with an object');
  // Every entry was made by the reader of its operator.
  return Object.fromEntries(entries) as FieldTests;
}

function isOperator(word: string): word is keyof FieldTests {
  return Object.hasOwn(TESTS, word);
}

/** Values of one type have an order that all stores share if they are numbers, text or dates. */
function ordered(value: unknown, path: string): Scalar {
  const checked = asScalar(value, path);
  if (checked === null || typeof checked === 'boolean')
    throw refused(path, 'can only be ordered by a number, a text or a date');
  return checked;
}

function scalars(value: unknown, path: string): readonly Scalar[] {
  if (!Array.isArray(value)) throw refused(path, 'takes a list');
  return value.map((element: unknown) => asScalar(element, path));
}

function flag(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw refused(path, 'takes true or false for $exists');
  return value;
}
