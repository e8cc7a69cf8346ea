/** Opens the database of a program that its client may start while the last process is still ending. */
import { DirectoryLockedError } from '../../database/sqlite/lockDataDirectory';
import { openDatabase } from '../../database/openDatabase';
import type { DatabaseEnvironment } from '../../database/openDatabase';
import type { DocumentDatabase } from '../../database/DocumentDatabase';
import { sleep } from '../../business/ai/application/services/shared/time';

/**
 * MCP's own client asks one process which revision a server speaks and starts another one for the session. It waits
 * four seconds at most for the first one to end, and for that of `npx` or `npm` alone.
 */
const MAX_WAIT_MS = 10_000;
/** A lock that is released tells nobody. */
const RETRY_MS = 100;

/** @throws DirectoryLockedError if the directory stays in use, and what `openDatabase` throws */
export async function openFreeDatabase(env: DatabaseEnvironment): Promise<DocumentDatabase> {
  const until = performance.now() + MAX_WAIT_MS;
  for (;;) {
    try {
      return await openDatabase(env);
    } catch (error) {
      if (!(error instanceof DirectoryLockedError) || performance.now() >= until) throw error;
    }
    await sleep(RETRY_MS);
  }
}
