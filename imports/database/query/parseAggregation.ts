/** Validates aggregations against what the `DocumentCollection` port supports. */
import type { Aggregation, TimeInterval } from '../DocumentCollection';
import { invalidInput, isPlainObject, splitPath } from './fieldPaths';
import { omitUndefined } from '../../business/ai/domain/util/omitUndefined';

/** An aggregation with nothing left out. */
export type CheckedAggregation = Required<Omit<Aggregation, 'unwind' | 'limit'>> &
  Pick<Aggregation, 'unwind' | 'limit'>;

/**
 * Returns a validated copy.
 * @throws LLMInvalidRequestError
 */
export function parseAggregation(aggregation: Aggregation): CheckedAggregation {
  const { by = {}, unwind, sum = {}, min = {}, max = {}, limit } = aggregation;
  if (unwind !== undefined) splitPath(unwind, 'unwind');
  if (limit !== undefined && !(Number.isSafeInteger(limit) && limit > 0))
    throw invalidInput('limit', 'must be a positive integer');
  return omitUndefined({
    by: parseNames(by, 'by', parseKey),
    sum: parseNames(sum, 'sum', parsePath),
    min: parseNames(min, 'min', parsePath),
    max: parseNames(max, 'max', parsePath),
    unwind,
    limit,
  });
}

function parseNames<Value>(
  names: Readonly<Record<string, unknown>>,
  location: string,
  parse: (value: unknown, location: string) => Value,
): Readonly<Record<string, Value>> {
  if (!isPlainObject(names)) throw invalidInput(location, 'must be a plain object');
  return Object.fromEntries(
    Object.entries(names).map(([name, value]) => {
      if (!/^[A-Za-z]\w*$/.test(name)) throw invalidInput(location, 'must have names of letters, digits and "_"');
      return [name, parse(value, `${location}.${name}`)];
    }),
  );
}

function parseKey(value: unknown, location: string): string | TimeInterval {
  if (!isPlainObject(value)) return parsePath(value, location);
  const { path, width, offset = 0, ...others } = value;
  if (Object.keys(others).length > 0) throw invalidInput(location, 'must have only "path", "width" and "offset"');
  if (!isInteger(width) || width <= 0) throw invalidInput(`${location}.width`, 'must be a positive integer');
  if (!isInteger(offset)) throw invalidInput(`${location}.offset`, 'must be an integer');
  return { path: parsePath(path, location), width, offset };
}

function isInteger(value: unknown): value is number {
  return Number.isSafeInteger(value);
}

function parsePath(value: unknown, location: string): string {
  if (typeof value !== 'string') throw invalidInput(location, 'must be a path');
  splitPath(value, location);
  return value;
}
