/** `npm start`: the plain-Node host with the demo tools, and the dashboard from its sources. */
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { runServer } from '../imports/startup/node/runServer';
import { registerDemoTools } from '../imports/startup/registerDemoTools';
import { cachedDashboard } from './cachedDashboard';

void runServer({ tools: registerDemoTools(new ToolRegistry()), dashboard: cachedDashboard });
