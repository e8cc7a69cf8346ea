/**
 * audit-argument-checks: a method or publication that did not `check` each of its arguments by the time it returns
 * or first waits has failed.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

const unchecked = new AsyncLocalStorage<unknown[] | undefined>();

/** Called by `check`: the value itself is an argument, or it is a list of arguments. */
export function noteChecked(value: unknown): void {
  const left = unchecked.getStore();
  if (left === undefined || strike(left, value)) return;
  if (Array.isArray(value)) for (const element of value) strike(left, element);
}

/**
 * Runs a handler; Meteor looks at what was checked when the handler gives back its promise, not when that is
 * settled.
 */
export function audited<Result>(run: () => Result, args: readonly unknown[], description: string): Result {
  const left = [...args];
  const result = unchecked.run(left, run);
  if (left.length > 0) {
    // Meteor loses a promise here; its rejection must not hide the error below.
    if (result instanceof Promise) result.catch(() => undefined);
    throw new Error(`Did not check() all arguments during ${description}`);
  }
  return result;
}

/** Checks inside `run` are nobody's arguments. */
export function unaudited<Result>(run: () => Result): Result {
  return unchecked.run(undefined, run);
}

function strike(left: unknown[], value: unknown): boolean {
  const at = left.findIndex((argument) => Object.is(argument, value));
  if (at !== -1) left.splice(at, 1);
  return at !== -1;
}
