/**
 * A plain-Node server in a process of its own, with tools that take their time: `step` 150 milliseconds, `think` six
 * seconds. Environment: as for the server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { runServer } from '../../imports/host/node/runServer';

const tools = new ToolRegistry();
for (const [name, ms] of [
  ['step', 150],
  ['think', 6_000],
] as const)
  tools.register({
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object', properties: {} },
    execute: async () => {
      await sleep(ms);
      return 'done';
    },
  });

void runServer({ tools, dashboard: false });
