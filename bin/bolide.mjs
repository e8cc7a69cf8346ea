#!/usr/bin/env node
/**
 * `npx bolide`: the server with its demo tools, configured by the environment. `npx bolide mcp` offers the same tools
 * over MCP to the program that starts it. `npx bolide data` looks after the files of the embedded database, and
 * `npx bolide runs` shows and decides about the runs of a running server.
 */
import { requireNode } from './checkNode.cjs';

requireNode();
const { ToolRegistry } = await import('../dist/index.js');
const { registerDemoTools, runDataCommand, runMcp, runRunsCommand, runServer } = await import('../dist/node.js');

const [command, ...args] = process.argv.slice(2);
const tools = registerDemoTools(new ToolRegistry());
if (command === 'data') process.exitCode = await runDataCommand(args);
else if (command === 'runs') process.exitCode = await runRunsCommand(args);
else if (command === 'mcp') await runMcp({ tools });
else await runServer({ tools });
