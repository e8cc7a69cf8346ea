/**
 * Validates selectors against what the `DocumentCollection` port supports, so that no operator reaches one database
 * that another would not know.
 */
import type { Selector, Scalar } from '../DocumentCollection';
import { invalidInput, isPlainObject, splitPath } from './fieldPaths';
import { asScalar } from './scalars';

export interface FieldTests {
  readonly $lt?: Scalar;
  readonly $lte?: Scalar;
  readonly $gt?: Scalar;
  readonly $gte?: Scalar;
  readonly $in?: readonly Scalar[];
  readonly $nin?: readonly Scalar[];
  readonly $ne?: Scalar;
  readonly $prefix?: string;
  readonly $exists?: boolean;
}
/** `$or` and `$and` hold selectors; every other key is a path. */
export interface CheckedSelector {
  readonly [key: string]: Scalar | FieldTests | readonly CheckedSelector[];
}

const MAX_DEPTH = 10;
const PARSERS = {
  $lt: parseBound,
  $lte: parseBound,
  $gt: parseBound,
  $gte: parseBound,
  $in: parseScalars,
  $nin: parseScalars,
  $ne: asScalar,
  $prefix: parseText,
  $exists: parseFlag,
} as const satisfies Record<keyof FieldTests, (value: unknown, path: string) => Scalar | readonly Scalar[]>;

/**
 * Returns a validated copy. A field's condition is a scalar or an object of operators. Anything else is rejected,
 * above all `undefined`, which MongoDB would read as "no condition".
 * @throws LLMInvalidRequestError
 */
export function parseSelector(selector: Selector, depth = MAX_DEPTH): CheckedSelector {
  if (!isPlainObject(selector)) throw invalidInput('selector', 'must be a plain object');
  if (depth === 0) throw invalidInput('selector', 'is nested too deeply');
  const checked: Record<string, CheckedSelector[string]> = {};
  for (const [key, value] of Object.entries(selector)) {
    if (key === '$or' || key === '$and') {
      if (!Array.isArray(value) || value.length === 0)
        throw invalidInput(key, 'must be a non-empty array of selectors');
      checked[key] = value.map((part: unknown) => parseSelector(asSelector(part), depth - 1));
    } else {
      splitPath(key, 'selector');
      checked[key] = isPlainObject(value) ? parseFieldTests(value, key) : asScalar(value, key);
    }
  }
  return checked;
}

function asSelector(part: unknown): Selector {
  if (!isPlainObject(part)) throw invalidInput('selector', 'must be a plain object');
  return part;
}

function parseFieldTests(tests: Readonly<Record<string, unknown>>, path: string): FieldTests {
  const entries = Object.entries(tests).map(([operator, value]) => {
    if (!isOperator(operator))
      throw invalidInput(path, `is compared with an object or an unsupported operator: ${operator.slice(0, 40)}`);
    return [operator, PARSERS[operator](value, path)];
  });
  if (entries.length === 0) throw invalidInput(path, 'is compared with an empty object');
  // Each entry comes from its operator's parser.
  return Object.fromEntries(entries) as FieldTests;
}

function isOperator(name: string): name is keyof FieldTests {
  return Object.hasOwn(PARSERS, name);
}

/** Only numbers, strings and dates have an order that all databases share. */
function parseBound(value: unknown, path: string): Scalar {
  const checked = asScalar(value, path);
  if (checked === null || typeof checked === 'boolean')
    throw invalidInput(path, 'can only be compared with a number, a string or a date');
  return checked;
}

function parseScalars(value: unknown, path: string): readonly Scalar[] {
  if (!Array.isArray(value)) throw invalidInput(path, 'must be an array');
  return value.map((element: unknown) => asScalar(element, path));
}

function parseText(value: unknown, path: string): string {
  if (typeof value !== 'string') throw invalidInput(path, 'must be a string for $prefix');
  return value.toWellFormed();
}

function parseFlag(value: unknown, path: string): boolean {
  if (typeof value !== 'boolean') throw invalidInput(path, 'must be true or false for $exists');
  return value;
}
