/** The id of the run that a call starts: whichever process goes on with the call finds the same run. */
import { createHash } from 'node:crypto';

/** How many runs there may be above one. */
export const MAX_RUN_DEPTH = 5;

export function childId(parentId: string, callId: string): string {
  return createHash('sha256')
    .update(JSON.stringify([parentId, callId]))
    .digest('hex')
    .slice(0, 32);
}
