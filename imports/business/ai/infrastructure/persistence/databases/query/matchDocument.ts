/** Whether a document matches a selector, by MongoDB's rules. */
import { valuesAt } from './fieldPaths';
import type { CheckedSelector, FieldTests } from './parseSelector';
import { compareScalars, isSameScalar } from './scalars';
import type { Scalar } from './scalars';

export function matchesSelector(document: object, selector: CheckedSelector): boolean {
  return Object.entries(selector).every(([key, condition]) => {
    if (isList(condition)) {
      return key === '$or'
        ? condition.some((part) => matchesSelector(document, part))
        : condition.every((part) => matchesSelector(document, part));
    }
    const found = valuesAt(document, key.split('.'));
    return isTests(condition) ? passesTests(found, condition) : contains(found, condition);
  });
}

function isList(condition: CheckedSelector[string]): condition is readonly CheckedSelector[] {
  return Array.isArray(condition);
}

function isTests(condition: Scalar | FieldTests): condition is FieldTests {
  return typeof condition === 'object' && condition !== null && !(condition instanceof Date);
}

function passesTests(found: readonly unknown[], tests: FieldTests): boolean {
  const { $lt, $lte, $gt, $gte, $in, $nin, $ne, $exists } = tests;
  return (
    ($lt === undefined || someOrdered(found, $lt, (order) => order < 0)) &&
    ($lte === undefined || someOrdered(found, $lte, (order) => order <= 0)) &&
    ($gt === undefined || someOrdered(found, $gt, (order) => order > 0)) &&
    ($gte === undefined || someOrdered(found, $gte, (order) => order >= 0)) &&
    ($in === undefined || $in.some((expected) => contains(found, expected))) &&
    ($nin === undefined || !$nin.some((expected) => contains(found, expected))) &&
    ($ne === undefined || !contains(found, $ne)) &&
    ($exists === undefined || found.some((value) => value !== undefined) === $exists)
  );
}

function contains(found: readonly unknown[], expected: Scalar): boolean {
  return elements(found).some((value) => isSameScalar(value, expected));
}

/** Values of different types never match a comparison. */
function someOrdered(found: readonly unknown[], bound: Scalar, accepts: (order: number) => boolean): boolean {
  return elements(found).some((value) => isSameType(value, bound) && accepts(compareScalars(value, bound)));
}

function isSameType(value: unknown, bound: Scalar): boolean {
  return bound instanceof Date ? value instanceof Date : typeof value === typeof bound;
}

/** An array matches if any of its elements does. */
function elements(found: readonly unknown[]): readonly unknown[] {
  return found.flatMap((value): readonly unknown[] => (Array.isArray(value) ? value : [value]));
}
