/** The server of `npm start` with its demo tools and its dashboard, in this process. */
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { startServer } from '../../imports/host/node/startServer';
import type { RunningServer } from '../../imports/host/node/startServer';
import { registerDemoTools } from '../../imports/host/registerDemoTools';
import type { Environment } from '../../imports/host/settings/environment';
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
