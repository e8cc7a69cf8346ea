/** The plain-Node host as `npm start` runs it, on a free port and with a temporary data directory. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Environment } from '../../imports/host/settings/environment';
import { startDemoServer } from './startDemoServer';
import type { RunningServer } from '../../imports/host/node/startServer';

/** @param env a `DATA_DIR` given here is not removed on close */
export async function startStandalone(env: Environment = {}): Promise<RunningServer> {
  const temporaryDirectory = env['DATA_DIR'] === undefined ? await mkdtemp(join(tmpdir(), 'bolide-host-')) : undefined;
  const server = await startDemoServer({ PORT: '0', ...env, DATA_DIR: env['DATA_DIR'] ?? temporaryDirectory });
  return {
    ...server,
    async close() {
      await server.close();
      if (temporaryDirectory !== undefined) await rm(temporaryDirectory, { recursive: true });
    },
  };
}
