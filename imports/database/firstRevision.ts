/** The revision of a new account; see `StoredAccount.revision`. */
import { randomInt } from 'node:crypto';

/** Leaves room for more changes than there can be. */
const LAST_RANDOM = 2 ** 47;

export function firstRevision(): number {
  return randomInt(1, LAST_RANDOM);
}
