/** Which parts of an index have all documents that may match. */
import type { Scalar } from '../../../../domain/interfaces/DocumentCollection';
import type { FieldTests } from '../query/parseSelector';
import { compareScalars } from '../query/scalars';

/** Conditions that every match fulfils, by path. */
export type Conditions = ReadonlyMap<string, Scalar | FieldTests>;

/** Of the slots whose first keys have these values, those between the bounds of the next key. */
export interface IndexRange {
  readonly equal: readonly Scalar[];
  readonly low?: Bound;
  readonly high?: Bound;
}

export interface Bound {
  readonly value: Scalar;
  readonly isExcluded: boolean;
}

export interface IndexRanges {
  readonly ranges: readonly IndexRange[];
  /** Paths whose conditions all documents of the ranges fulfil. */
  readonly covered: readonly string[];
  /** They are less than the entire index, even if no path is covered. */
  readonly isBounded: boolean;
  /** Each has the order of the keys after those that are covered. */
  readonly isOrdered: boolean;
}

/** An index is searched for no more ranges than these, unless a single list names more. */
const MAX_RANGES = 1_000;

/** Of the first keys, as many as must have a value or one of a list, and the bounds of the next one. */
export function rangesOf(
  keys: readonly { readonly path: string; readonly direction: 1 | -1 }[],
  conditions: Conditions,
): IndexRanges {
  let prefixes: readonly (readonly Scalar[])[] = [[]];
  const covered: string[] = [];
  for (const { path, direction } of keys) {
    const condition = conditions.get(path);
    if (condition === undefined) break;
    const { $in, ...others } = isScalar(condition) ? { $in: [condition] } : condition;
    if ($in !== undefined) {
      const values = distinct($in);
      if (covered.length > 0 && prefixes.length * values.length > MAX_RANGES) break;
      prefixes = prefixes.flatMap((prefix) => values.map((value) => [...prefix, value]));
      if (Object.keys(others).length > 0)
        return { ranges: toRanges(prefixes), covered, isBounded: true, isOrdered: false };
      covered.push(path);
      continue;
    }
    const { ranges, isExact, isBounded } = rangesWithin(others, direction);
    if (!isBounded || prefixes.length * ranges.length > MAX_RANGES) break;
    return {
      ranges: prefixes.flatMap((equal) => ranges.map((range) => ({ equal, ...range }))),
      covered: isExact ? [...covered, path] : covered,
      isBounded: true,
      isOrdered: false,
    };
  }
  return { ranges: toRanges(prefixes), covered, isBounded: covered.length > 0, isOrdered: true };
}

export function isScalar(condition: Scalar | FieldTests): condition is Scalar {
  return typeof condition !== 'object' || condition === null || condition instanceof Date;
}

interface Bounds {
  readonly low?: Bound;
  readonly high?: Bound;
  /** All documents between the bounds match. Otherwise, they need not. */
  readonly isExact: boolean;
}

/** In the order of the index. */
function boundsOf({ $gt, $gte, $lt, $lte, ...others }: FieldTests, direction: 1 | -1 = 1): Bounds {
  const least = toBound($gte, $gt);
  const greatest = toBound($lte, $lt);
  const [low, high] = direction === 1 ? [least, greatest] : [greatest, least];
  return {
    ...(low === undefined ? {} : { low }),
    ...(high === undefined ? {} : { high }),
    // A range with one bound continues with the values of other types.
    isExact:
      Object.keys(others).length === 0 &&
      ($gte === undefined) !== ($gt === undefined) &&
      ($lte === undefined) !== ($lt === undefined) &&
      least !== undefined &&
      greatest !== undefined &&
      isSameType(least.value, greatest.value),
  };
}

function toRanges(prefixes: readonly (readonly Scalar[])[]): readonly IndexRange[] {
  return prefixes.map((equal) => ({ equal }));
}

/** The parts of a key's values that a match may have, in the order of the index. */
function rangesWithin(
  tests: FieldTests,
  direction: 1 | -1,
): { readonly ranges: readonly Omit<IndexRange, 'equal'>[]; readonly isExact: boolean; readonly isBounded: boolean } {
  const { $ne, $nin = [], ...others } = tests;
  const { low, high, isExact } = boundsOf(tests, direction);
  const excluded = $ne === undefined ? $nin : [...$nin, $ne];
  if (low !== undefined || high !== undefined || excluded.length === 0)
    return {
      ranges: [{ ...(low === undefined ? {} : { low }), ...(high === undefined ? {} : { high }) }],
      isExact,
      isBounded: low !== undefined || high !== undefined,
    };
  const gaps = distinct(excluded)
    .toSorted((left, right) => compareScalars(left, right) * direction)
    .map((value): Bound => ({ value, isExcluded: true }));
  const ranges = [undefined, ...gaps].map((low, at) => ({
    ...(low === undefined ? {} : { low }),
    ...(gaps[at] === undefined ? {} : { high: gaps[at] }),
  }));
  return { ranges, isExact: Object.keys(others).length === 0, isBounded: true };
}

function toBound(included: Scalar | undefined, excluded: Scalar | undefined): Bound | undefined {
  if (included !== undefined) return { value: included, isExcluded: false };
  return excluded === undefined ? undefined : { value: excluded, isExcluded: true };
}

function isSameType(left: Scalar, right: Scalar): boolean {
  return typeof left === typeof right && left instanceof Date === right instanceof Date;
}

function distinct(values: readonly Scalar[]): readonly Scalar[] {
  // No other scalar is a BigInt.
  const found = new Map<unknown, Scalar>(
    values.map((value) => [value instanceof Date ? BigInt(value.getTime()) : value, value]),
  );
  return [...found.values()];
}
