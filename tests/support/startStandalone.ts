/** The plain-Node host as `npm start` runs it, on a free port and with a data directory of its own. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../imports/startup/settings/vendors';
import { startServer } from '../../server/standalone';
import type { RunningServer } from '../../server/standalone';

/** @param env `DATA_DIR` in it is left to its owner */
export async function startStandalone(env: Environment = {}): Promise<RunningServer> {
  const made = env['DATA_DIR'] === undefined ? await mkdtemp(join(tmpdir(), 'bolide-host-')) : undefined;
  const server = await startServer({ PORT: '0', ...env, DATA_DIR: env['DATA_DIR'] ?? made });
  return {
    ...server,
    async close() {
      await server.close();
      if (made !== undefined) await rm(made, { recursive: true });
    },
  };
}
