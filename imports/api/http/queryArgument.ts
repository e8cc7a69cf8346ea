/** Reads a query string into the argument of an operation. Operations are strict about types, and queries have none. */
import type { HttpRequest } from './HttpMessages';

export interface QueryTypes {
  /** Times are milliseconds since the epoch. */
  readonly numbers?: readonly string[];
  /** Comma-separated. A list of one is passed as a list, too. */
  readonly lists?: readonly string[];
  /** `true`, or the name alone. Any other value is passed as it is, for the operation to refuse. */
  readonly flags?: readonly string[];
}

/** @returns reads the query of a request; fields that `types` does not name remain strings */
export function queryArgument(
  types: QueryTypes = {},
): (request: Pick<HttpRequest, 'query'>) => Readonly<Record<string, unknown>> {
  return ({ query }) =>
    Object.fromEntries(Object.entries(query).map(([name, value]) => [name, readValue(types, name, value)]));
}

/** A field that is repeated arrives as a list, and one with brackets as an object: operations refuse both. */
function readValue({ numbers, lists, flags }: QueryTypes, name: string, value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (numbers?.includes(name) === true) return value.trim() === '' ? value : numberOr(value);
  if (lists?.includes(name) === true) return value.split(',').filter((entry) => entry !== '');
  if (flags?.includes(name) === true) return value === '' || value === 'true' ? true : value;
  return value;
}

/** A text that is no number is passed as it is, for the operation to refuse. */
function numberOr(value: string): number | string {
  const number = Number(value);
  return Number.isNaN(number) ? value : number;
}
