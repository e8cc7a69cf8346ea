/**
 * Calls a Meteor method and converts its errors. After a reconnect, Meteor sends methods in flight again; these are
 * sent once, and a run's start carries a request id.
 */
import { DashboardError } from '../DashboardData';
import type { BrowserMeteor } from './BrowserPackages';

/**
 * `callAsync` cannot be told not to repeat. In a browser `applyAsync` resolves at once to `undefined`, and only logs
 * errors, unless it is asked for the server's result.
 */
const OPTIONS = { noRetry: true, returnServerResultPromise: true };

interface ApplyAsync {
  applyAsync(name: string, args: readonly unknown[], options: typeof OPTIONS): Promise<unknown>;
}

export async function callMethod<T = void>(
  Meteor: Pick<BrowserMeteor, 'applyAsync'>,
  name: string,
  argument: object,
): Promise<T> {
  try {
    // The method's contract types its result.
    return (await (Meteor as ApplyAsync).applyAsync(name, [argument], OPTIONS)) as T;
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
