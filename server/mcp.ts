/** `npm run mcp`: the demo tools for a client that speaks the Model Context Protocol over standard input and output. */
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { runMcp } from '../imports/startup/node/runMcp';
import { registerDemoTools } from '../imports/startup/registerDemoTools';

void runMcp({ tools: registerDemoTools(new ToolRegistry()) });
