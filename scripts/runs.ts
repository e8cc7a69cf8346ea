/**
 * `npm run runs -- list|show|cancel|retry|review`: shows a server's runs, and decides about them. `--help` says
 * more.
 */
import { runRunsCommand } from '../imports/startup/node/runRunsCommand';

void runRunsCommand(process.argv.slice(2)).then((code) => {
  process.exitCode = code;
});
