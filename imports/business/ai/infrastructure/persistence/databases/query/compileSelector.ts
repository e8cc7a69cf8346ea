/** Turns a selector into a function, by MongoDB's rules. Compiled once per query, it tests many documents fast. */
import type { Scalar } from '../../../../domain/interfaces/DocumentCollection';
import { isRecord } from './fieldPaths';
import type { CheckedSelector, FieldTests } from './parseSelector';
import { compareScalars, isSameScalar } from './scalars';

export type Test = (value: unknown) => boolean;

/** Tests documents, and objects in arrays. */
export function compileSelector(selector: CheckedSelector): Test {
  const tests = Object.entries(selector).map(([key, condition]) => {
    if (isList(condition)) {
      const parts = condition.map(compileSelector);
      return key === '$or' ? anyOf(parts) : allOf(parts);
    }
    const parts = key.split('.');
    return isTests(condition) ? compileTests(parts, condition) : has(parts, isEqualTo(condition));
  });
  return allOf(tests);
}

function isList(condition: CheckedSelector[string]): condition is readonly CheckedSelector[] {
  return Array.isArray(condition);
}

function isTests(condition: Scalar | FieldTests): condition is FieldTests {
  return typeof condition === 'object' && condition !== null && !(condition instanceof Date);
}

function compileTests(parts: readonly string[], tests: FieldTests): Test {
  const { $lt, $lte, $gt, $gte, $in, $nin, $ne, $prefix, $exists } = tests;
  return allOf([
    ...($lt === undefined
      ? []
      : [
          has(
            parts,
            isOrdered($lt, (order) => order < 0),
          ),
        ]),
    ...($lte === undefined
      ? []
      : [
          has(
            parts,
            isOrdered($lte, (order) => order <= 0),
          ),
        ]),
    ...($gt === undefined
      ? []
      : [
          has(
            parts,
            isOrdered($gt, (order) => order > 0),
          ),
        ]),
    ...($gte === undefined
      ? []
      : [
          has(
            parts,
            isOrdered($gte, (order) => order >= 0),
          ),
        ]),
    ...($in === undefined ? [] : [has(parts, isOneOf($in))]),
    ...($nin === undefined ? [] : [not(has(parts, isOneOf($nin)))]),
    ...($ne === undefined ? [] : [not(has(parts, isEqualTo($ne)))]),
    ...($prefix === undefined ? [] : [has(parts, (value) => typeof value === 'string' && value.startsWith($prefix))]),
    ...($exists === undefined ? [] : [(document: unknown) => exists(document, parts, 0) === $exists]),
  ]);
}

function allOf(tests: readonly Test[]): Test {
  const [first, second] = tests;
  if (first === undefined) return () => true;
  if (second === undefined) return first;
  return (value) => tests.every((test) => test(value));
}

function anyOf(tests: readonly Test[]): Test {
  return (value) => tests.some((test) => test(value));
}

function not(test: Test): Test {
  return (value) => !test(value);
}

/** Whether a value that the path leads to passes, or an element of an array there. A missing field is `undefined`. */
function has(parts: readonly string[], test: Test): Test {
  return (document) => hasAt(document, parts, 0, test);
}

function hasAt(value: unknown, parts: readonly string[], at: number, test: Test): boolean {
  const part = parts[at];
  if (part === undefined) return Array.isArray(value) ? value.some(test) : test(value);
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

/** Values of different types never match a comparison. */
function isOrdered(bound: Scalar, accepts: (order: number) => boolean): Test {
  if (bound instanceof Date) return (value) => value instanceof Date && accepts(value.getTime() - bound.getTime());
  if (typeof bound === 'number') return (value) => typeof value === 'number' && accepts(value - bound);
  return (value) => typeof value === typeof bound && accepts(compareScalars(value, bound));
}
