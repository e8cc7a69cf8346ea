/** Turns a selector into a function, by MongoDB's rules. Compiled once per query, it tests many documents fast. */
import type { Scalar } from '../DocumentCollection';
import { isRecord } from './fieldPaths';
import { readTexts } from './LargeText';
import type { CheckedSelector, FieldTests } from './parseSelector';
import { compareScalars, isSameScalar } from './scalars';

export type Test = (value: unknown) => boolean;

/** Tests documents, and objects in arrays. */
export function compileSelector(selector: CheckedSelector): Test {
  const tests = Object.entries(selector).map(([path, condition]) => {
    if (isList(condition)) {
      const parts = condition.map(compileSelector);
      return path === '$or' ? anyOf(parts) : allOf(parts);
    }
    return isTests(condition) ? compileTests(path, condition) : has(path, isEqualTo(condition));
  });
  return allOf(tests);
}

export function isList(condition: CheckedSelector[string]): condition is readonly CheckedSelector[] {
  return Array.isArray(condition);
}

export function isTests(condition: Scalar | FieldTests): condition is FieldTests {
  return typeof condition === 'object' && condition !== null && !(condition instanceof Date);
}

function compileTests(path: string, tests: FieldTests): Test {
  const { $lt, $lte, $gt, $gte, $in, $nin, $ne, $prefix, $exists } = tests;
  const isValue = (test: Test): Test => has(path, test);
  const parts = path.split('.');
  const hasValue: Test = (document) => exists(document, parts, 0);
  return allOf([
    ...($lt === undefined ? [] : [isValue(isOrdered('$lt', $lt))]),
    ...($lte === undefined ? [] : [isValue(isOrdered('$lte', $lte))]),
    ...($gt === undefined ? [] : [isValue(isOrdered('$gt', $gt))]),
    ...($gte === undefined ? [] : [isValue(isOrdered('$gte', $gte))]),
    ...($in === undefined ? [] : [isValue(isOneOf($in))]),
    ...($nin === undefined ? [] : [not(isValue(isOneOf($nin)))]),
    ...($ne === undefined ? [] : [not(isValue(isEqualTo($ne)))]),
    ...($prefix === undefined ? [] : [isValue((value) => typeof value === 'string' && value.startsWith($prefix))]),
    ...($exists === undefined ? [] : [$exists ? hasValue : not(hasValue)]),
  ]);
}

function allOf(tests: readonly Test[]): Test {
  const [first, second, third] = tests;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  if (third === undefined) return (row) => first(row) && second(row);
  return (row) => tests.every((test) => test(row));
}

function anyOf(tests: readonly Test[]): Test {
  return (row) => tests.some((test) => test(row));
}

function not(test: Test): Test {
  return (row) => !test(row);
}

/** Whether a value at the path passes, or an element of an array there. A missing field is `undefined`. */
function has(path: string, test: Test): Test {
  const parts = path.split('.');
  return (document) => hasAt(document, parts, 0, test);
}

function hasAt(value: unknown, parts: readonly string[], at: number, test: Test): boolean {
  const part = parts[at];
  if (part === undefined)
    return Array.isArray(value) ? value.some((element) => test(readTexts(element))) : test(readTexts(value));
  if (Array.isArray(value)) return value.some((element) => isRecord(element) && hasAt(element, parts, at, test));
  return isRecord(value) && Object.hasOwn(value, part) ? hasAt(value[part], parts, at + 1, test) : test(undefined);
}

function exists(value: unknown, parts: readonly string[], at: number): boolean {
  const part = parts[at];
  if (part === undefined) return value !== undefined;
  if (Array.isArray(value)) return value.some((element) => isRecord(element) && exists(element, parts, at));
  return isRecord(value) && Object.hasOwn(value, part) && exists(value[part], parts, at + 1);
}

function isEqualTo(expected: Scalar): Test {
  if (expected === null) return (value) => value === null || value === undefined;
  return expected instanceof Date ? (value) => isSameScalar(value, expected) : (value) => value === expected;
}

function isOneOf(list: readonly Scalar[]): Test {
  const dates = new Set(list.flatMap((value) => (value instanceof Date ? [value.getTime()] : [])));
  const others = new Set<unknown>(list.filter((value) => !(value instanceof Date)));
  return (value) => (value instanceof Date ? dates.has(value.getTime()) : others.has(value ?? null));
}

type Bound = '$lt' | '$lte' | '$gt' | '$gte';

/** Values of different types never match a comparison. */
function isOrdered(operator: Bound, bound: Scalar): Test {
  if (bound instanceof Date) {
    const test = isOrderedNumber(operator, bound.getTime());
    return (value) => value instanceof Date && test(value.getTime());
  }
  if (typeof bound === 'number') return isOrderedNumber(operator, bound);
  const test = isOrderedNumber(operator, 0);
  return (value) => typeof value === typeof bound && test(compareScalars(value, bound));
}

function isOrderedNumber(operator: Bound, bound: number): Test {
  switch (operator) {
    case '$lt':
      return (value) => typeof value === 'number' && value < bound;
    case '$lte':
      return (value) => typeof value === 'number' && value <= bound;
    case '$gt':
      return (value) => typeof value === 'number' && value > bound;
    case '$gte':
      return (value) => typeof value === 'number' && value >= bound;
  }
}
