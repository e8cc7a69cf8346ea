/** Runs a server as a program: prints where it is, and closes it on SIGTERM and SIGINT. */
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import { SIMULATION_NOTICE } from '../simulation';
import { describePrivateHosts, readAllowPrivateHosts } from '../settings/host';
import { SettingProblems } from '../settings/SettingProblems';
import { DEFAULT_SHUTDOWN_GRACE_MS, readShutdownGrace, readShutdownNotice } from '../settings/shutdown';
import { processEnvironment, valueOf } from '../settings/environment';
import { closeOnSignals } from '../closeOnSignals';
import { describeExposure, describeStart } from './describeStart';
import { openLog } from './openLog';
import { startServer } from './startServer';
import type { ServerOptions } from './startServer';

/** Ends the process with code 1 if the server cannot start, or cannot close. */
export async function runServer(options: ServerOptions): Promise<void> {
  const { env = processEnvironment() } = options;
  try {
    await openLog({ env, isTerminal: process.stderr.isTTY });
  } catch (error) {
    console.error(isLLMError(error) ? error.message : error);
    process.exit(1);
  }
  const read = (setting: typeof readShutdownGrace): number | undefined =>
    new SettingProblems().attempt(() => setting((name) => valueOf(env, name)));
  const starting = startServer(options);
  // From now on: the start takes over runs, which must not wait for their leases to expire if it is interrupted.
  closeOnSignals({
    close: async (hurry) => (await starting).close(hurry),
    // A wrong value is an error of the start.
    graceMs: (read(readShutdownGrace) ?? DEFAULT_SHUTDOWN_GRACE_MS) + (read(readShutdownNotice) ?? 0),
  });
  const running = await starting.catch((error: unknown) => {
    console.error(isLLMError(error) ? error.message : error);
    process.exit(1);
  });
  if (running.isSimulated) console.log(SIMULATION_NOTICE);
  const lines = describeStart(running, {
    isTerminal: process.stdout.isTTY,
    isTokenSet: valueOf(env, 'BOLIDE_API_TOKEN') !== undefined,
  });
  for (const line of lines) console.log(line);
  const exposure = describeExposure({ host: env['HOST'] ?? '127.0.0.1', rootUrl: valueOf(env, 'ROOT_URL') });
  if (exposure !== undefined) console.warn(exposure);
  const privateHosts = describePrivateHosts(readAllowPrivateHosts(env));
  if (privateHosts !== undefined) console.warn(privateHosts);
}
