#!/usr/bin/env node
/**
 * `npx bolide`: the server with its demo tools, configured by the environment. `npx bolide data` looks after the files
 * of its embedded database.
 */
import { ToolRegistry } from '../dist/index.mjs';
import { registerDemoTools, runDataCommand, runServer } from '../dist/node.mjs';

const [command, ...args] = process.argv.slice(2);
if (command === 'data') process.exitCode = await runDataCommand(args);
else await runServer({ tools: registerDemoTools(new ToolRegistry()) });
