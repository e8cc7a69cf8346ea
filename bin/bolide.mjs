#!/usr/bin/env node
import { requireNode } from './checkNode.cjs';

requireNode();
const { runCommandLine } = await import('../dist/commandLine.js');

process.exitCode = await runCommandLine(process.argv.slice(2));
