#!/usr/bin/env node
import module from 'node:module';
import { fileURLToPath } from 'node:url';
import { requireNode } from './checkNode.cjs';

requireNode();
// Stores what V8 has compiled when the command ends, for the next start; nothing where the folder cannot be written.
// https://nodejs.org/api/module.html#moduleenablecompilecachecachedir
module.enableCompileCache(fileURLToPath(new URL('../../.cache/bolide', import.meta.url)));
const { runCommandLine } = await import('../dist/commandLine.js');

process.exitCode = await runCommandLine(process.argv.slice(2));
