/** A broken promise, found as it is broken. */
export class Violation extends Error {}

/** @throws Violation unless it holds */
export function ensure(holds: boolean, problem: () => string): void {
  if (!holds) throw new Violation(problem());
}
