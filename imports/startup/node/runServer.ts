/** Runs a server as a program: prints where it is, and closes it on SIGINT and SIGTERM. */
import { isLLMError } from '../../business/ai/domain/errors/LLMErrors';
import { SIMULATION_NOTICE } from '../simulation';
import { describePrivateHosts, readAllowPrivateHosts } from '../settings/host';
import { valueOf } from '../settings/vendors';
import { describeExposure, describeStart } from './describeStart';
import { startServer } from './startServer';
import type { ServerOptions } from './startServer';

/** Ends the process with code 1 if the server cannot start, or cannot close. */
export async function runServer(options: ServerOptions): Promise<void> {
  const running = await startServer(options).catch((error: unknown) => {
    console.error(isLLMError(error) ? error.message : error);
    process.exit(1);
  });
  if (running.isSimulated) console.log(SIMULATION_NOTICE);
  const { env = process.env } = options;
  const lines = describeStart(running, {
    isTerminal: process.stdout.isTTY,
    isTokenSet: valueOf(env, 'BOLIDE_API_TOKEN') !== undefined,
  });
  for (const line of lines) console.log(line);
  const exposure = describeExposure({ host: env['HOST'] ?? '127.0.0.1', rootUrl: valueOf(env, 'ROOT_URL') });
  if (exposure !== undefined) console.warn(exposure);
  const privateHosts = describePrivateHosts(readAllowPrivateHosts(env));
  if (privateHosts !== undefined) console.warn(privateHosts);
  const stop = (): void => {
    running.close().then(
      () => process.exit(0),
      (error: unknown) => {
        console.error(error);
        process.exit(1);
      },
    );
  };
  process.once('SIGINT', stop);
  process.once('SIGTERM', stop);
}
