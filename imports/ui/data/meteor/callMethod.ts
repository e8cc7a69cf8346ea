/** Calls a Meteor method and converts its errors. */
import { DashboardError } from '../DashboardData';
import type { BrowserMeteor } from './BrowserPackages';

/**
 * `callAsync` cannot be told not to repeat. In a browser `applyAsync` resolves at once to `undefined`, and only logs
 * errors, unless it is asked for the server's result.
 */
interface ApplyAsync {
  applyAsync(
    name: string,
    args: readonly unknown[],
    options: { readonly noRetry: boolean; readonly returnServerResultPromise: true },
  ): Promise<unknown>;
}

/** @param options `isRepeatable`: Meteor sends the call again after a lost connection. Default: it is sent once */
export async function callMethod<T = void>(
  Meteor: Pick<BrowserMeteor, 'applyAsync'>,
  name: string,
  argument: object,
  { isRepeatable = false }: { readonly isRepeatable?: boolean } = {},
): Promise<T> {
  const options = { noRetry: !isRepeatable, returnServerResultPromise: true } as const;
  try {
    // The method's contract types its result.
    return (await (Meteor as ApplyAsync).applyAsync(name, [argument], options)) as T;
  } catch (error) {
    throw toDashboardError(error);
  }
}

/** A `Meteor.Error` carries its code in `error` and its message in `reason`. */
export function toDashboardError(error: unknown): DashboardError {
  if (typeof error !== 'object' || error === null) return new DashboardError('unexpected', String(error));
  const code = 'error' in error && typeof error.error === 'string' ? error.error : 'unexpected';
  if (code === 'invocation-failed')
    return new DashboardError(code, 'The connection was lost before the server responded. Check the result and retry.');
  const reason = 'reason' in error && typeof error.reason === 'string' ? error.reason : undefined;
  const message = reason ?? (error instanceof Error ? error.message : 'Something went wrong.');
  return new DashboardError(code, message, pathOf(error));
}

/** `details` is what `toClientError` lists. */
function pathOf(error: object): string | undefined {
  const details: unknown = 'details' in error ? error.details : undefined;
  if (typeof details !== 'object' || details === null || !('path' in details)) return undefined;
  return typeof details.path === 'string' ? details.path : undefined;
}
