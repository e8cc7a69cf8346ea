/** The server of `npm start` with its demo tools and its dashboard, in this process. */
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startServer } from '../../imports/startup/node/startServer';
import type { RunningServer } from '../../imports/startup/node/startServer';
import { registerDemoTools } from '../../imports/startup/registerDemoTools';
import type { Environment } from '../../imports/startup/settings/vendors';
import { cachedDashboard } from '../../server/cachedDashboard';

/** @param simulatedPause milliseconds between two events of a simulated stream */
export function startDemoServer(env: Environment, simulatedPause = 0): Promise<RunningServer> {
  return startServer({
    env,
    tools: registerDemoTools(new ToolRegistry()),
    dashboard: cachedDashboard,
    simulatedPause,
  });
}
