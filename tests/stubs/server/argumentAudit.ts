/**
 * audit-argument-checks: a method or publication fails if it has not called `check` on every argument by the time
 * it returns or first awaits.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const unchecked = new AsyncLocalStorage<unknown[] | undefined>();

/** Called by `check` with an argument or with an array of arguments. */
export function noteChecked(value: unknown): void {
  const left = unchecked.getStore();
  if (left === undefined || strike(left, value)) return;
  if (Array.isArray(value)) for (const element of value) strike(left, element);
}

/**
 * Runs a handler. Meteor audits the checks when the handler returns its promise, not when the promise is
 * settled.
 */
export function audited<Result>(run: () => Result, args: readonly unknown[], description: string): Result {
  const left = [...args];
  const result = unchecked.run(left, run);
  if (left.length > 0) {
    // Meteor drops this promise; its rejection must not hide the error below.
    if (result instanceof Promise) result.catch(() => undefined);
    throw new Error(`Did not check() all arguments during ${description}`);
  }
  return result;
}

/** Checks inside `run` don't count for any handler. */
export function unaudited<Result>(run: () => Result): Result {
  return unchecked.run(undefined, run);
}

function strike(left: unknown[], value: unknown): boolean {
  const at = left.findIndex((argument) => Object.is(argument, value));
  if (at !== -1) left.splice(at, 1);
  return at !== -1;
}
