/** Checks with Meteor's package `check`, without which `audit-argument-checks` refuses a method or publication. */
import type { MeteorCheck, MeteorMatch } from '../interfaces/MeteorServer';

/**
 * @param checks undefined in an app without the package
 * @returns throws `Match.Error` for a value that does not match; does nothing without the package
 */
export function argumentCheck(
  checks: MeteorCheck | undefined,
  pattern: (Match: MeteorMatch) => unknown,
): (value: unknown) => void {
  if (checks === undefined) return () => undefined;
  const expected = pattern(checks.Match);
  return (value) => checks.check(value, expected);
}
