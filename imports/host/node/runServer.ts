/** Runs a server as a program: prints where it is, and closes it on SIGTERM and SIGINT. */
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import { SIMULATION_NOTICE } from '../simulation';
import { readSettings } from '../settings/defineSettings';
import { processEnvironment, settingSource, valueOf } from '../settings/environment';
import { DEFAULT_SHUTDOWN_GRACE_MS, describePrivateHosts, hostSettings } from '../settings/host';
import { DEFAULT_HOST_NAME, nodeSettings } from '../settings/nodeSettings';
import { SettingProblems } from '../settings/SettingProblems';
import { closeOnSignals } from '../closeOnSignals';
import { describeExposure, describeStart } from './describeStart';
import { exitOnLoss } from './exitOnLoss';
import { openLog } from './openLog';
import { startServer } from './startServer';
import type { ServerOptions } from './startServer';

/** Ends the process with code 1 if the server cannot start, has lost its database, or cannot close. */
export async function runServer(options: ServerOptions): Promise<void> {
  const { env = processEnvironment() } = options;
  try {
    await openLog({ env, isTerminal: process.stderr.isTTY });
  } catch (error) {
    console.error(isLLMError(error) ? error.message : error);
    process.exit(1);
  }
  // A wrong value is an error of the start.
  const settings = readSettings({ ...nodeSettings, ...hostSettings }, settingSource(env), new SettingProblems());
  const {
    hostName = DEFAULT_HOST_NAME,
    rootUrl,
    shutdownGraceMs = DEFAULT_SHUTDOWN_GRACE_MS,
    shutdownNoticeMs = 0,
  } = settings;
  const starting = startServer(options);
  // From now on: the start takes over runs, which must not wait for their leases to expire if it is interrupted.
  closeOnSignals({
    close: async (hurry) => (await starting).close(hurry),
    graceMs: shutdownGraceMs + shutdownNoticeMs,
  });
  const running = await starting.catch((error: unknown) => {
    console.error(isLLMError(error) ? error.message : error);
    process.exit(1);
  });
  exitOnLoss(running);
  if (running.isSimulated) console.log(SIMULATION_NOTICE);
  const lines = describeStart(running, {
    isTerminal: process.stdout.isTTY,
    isTokenSet: valueOf(env, 'BOLIDE_API_TOKEN') !== undefined,
  });
  for (const line of lines) console.log(line);
  const exposure = describeExposure({ host: hostName, rootUrl });
  if (exposure !== undefined) console.warn(exposure);
  const privateHosts = describePrivateHosts(settings.allowPrivateHosts ?? false);
  if (privateHosts !== undefined) console.warn(privateHosts);
}
