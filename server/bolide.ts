/**
 * Bolide's command line in a checkout, with the dashboard from its sources: `npm start`, `npm run data`, `npm run mcp`
 * and `npm run runs`.
 */
import { processPorts } from '../imports/host/node/commandLine/processPorts';
import { runCommandLine } from '../imports/host/node/commandLine/runCommandLine';
import { cachedDashboard } from './cachedDashboard';

void runCommandLine(process.argv.slice(2), processPorts({ dashboard: cachedDashboard })).then((code) => {
  process.exitCode = code;
});
