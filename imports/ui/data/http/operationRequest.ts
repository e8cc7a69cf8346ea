/** The HTTP request of an operation. */
import { DashboardError } from '../DashboardData';
import type { OperationEntry } from '../OperationEntry';

export interface OperationRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly body?: object;
}

/**
 * The argument's fields are in the path, and in the query of GET and DELETE or the body of POST.
 * @throws DashboardError for an empty field in the path, with which it would be the path of another operation
 */
export function operationRequest({ routes }: Pick<OperationEntry, 'routes'>, argument: object): OperationRequest {
  const given = Object.entries(argument as Readonly<Record<string, unknown>>).filter(
    ([, value]) => value !== undefined,
  );
  const fields = new Map(given);
  const parts = routes.map((route) => /^(?<method>\w+) (?<path>.+)$/.exec(route)?.groups ?? {});
  const isGiven = ({ path = '' }: Readonly<Record<string, string>>): boolean =>
    parametersOf(path).every((name) => fields.has(name));
  const { method = '', path = '' } = parts.find(isGiven) ?? parts.at(-1) ?? {};
  const filled = path.replace(PARAMETER, (_, name: string) => {
    const value = fields.get(name);
    if (typeof value !== 'string' || value === '')
      throw new DashboardError('invalid-request', 'The name or id must not be empty.');
    return encodeURIComponent(value);
  });
  const inPath = parametersOf(path);
  const others = given.filter(([name]) => !inPath.includes(name));
  if (method === 'POST') return { method, path: filled, body: Object.fromEntries(others) };
  // A list becomes text as its entries between commas.
  const query = new URLSearchParams(others.map(([name, value]) => [name, String(value)])).toString();
  return { method, path: query === '' ? filled : `${filled}?${query}` };
}

const PARAMETER = /:(\w+)/g;

function parametersOf(path: string): readonly string[] {
  return [...path.matchAll(PARAMETER)].map(([, name = '']) => name);
}
