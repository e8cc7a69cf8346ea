#!/usr/bin/env node
/**
 * `npx bolide`: the server with its demo tools, configured by the environment. `npx bolide data` looks after the files
 * of its embedded database, and `npx bolide runs` shows and decides about the runs of a running server.
 */
import { ToolRegistry } from '../dist/index.mjs';
import { registerDemoTools, runDataCommand, runRunsCommand, runServer } from '../dist/node.mjs';

const [command, ...args] = process.argv.slice(2);
if (command === 'data') process.exitCode = await runDataCommand(args);
else if (command === 'runs') process.exitCode = await runRunsCommand(args);
else await runServer({ tools: registerDemoTools(new ToolRegistry()) });
