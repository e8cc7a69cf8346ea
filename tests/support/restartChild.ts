/**
 * A plain-Node server in a process of its own, with tools that take their time: `step` and `look` 150 milliseconds,
 * `think` six seconds. `look` may be repeated. Environment: as for the server.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { runServer } from '../../imports/host/node/runServer';

const tools = new ToolRegistry();
for (const [name, ms, idempotent] of [
  ['step', 150, false],
  ['look', 150, true],
  ['think', 6_000, false],
] as const)
  tools.register({
    name,
    description: `The tool ${name}.`,
    parameters: { type: 'object', properties: {} },
    idempotent,
    execute: async () => {
      await sleep(ms);
      return 'done';
    },
  });

void runServer({ tools, dashboard: false });
