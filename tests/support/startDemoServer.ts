/** The server of `npm start` with its demo tools and its dashboard, in this process. Simulated vendors do not pause. */
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startServer } from '../../imports/startup/node/startServer';
import type { RunningServer } from '../../imports/startup/node/startServer';
import { registerDemoTools } from '../../imports/startup/registerDemoTools';
import type { Environment } from '../../imports/startup/settings/vendors';
import { cachedDashboard } from '../../server/cachedDashboard';

export function startDemoServer(env: Environment): Promise<RunningServer> {
  return startServer({
    env,
    tools: registerDemoTools(new ToolRegistry()),
    dashboard: cachedDashboard,
    simulatedPause: 0,
  });
}
