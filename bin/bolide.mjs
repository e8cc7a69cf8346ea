#!/usr/bin/env node
/** `npx bolide`: the server with its demo tools, configured by the environment. */
import { ToolRegistry } from '../dist/index.mjs';
import { registerDemoTools, runServer } from '../dist/node.mjs';

await runServer({ tools: registerDemoTools(new ToolRegistry()) });
