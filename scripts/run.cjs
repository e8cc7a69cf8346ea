/**
 * Runs a TypeScript program of this repository in this process: `node scripts/run.cjs scripts/ask.ts "Hello"`. It is
 * compiled once, and again when a source has changed. Stacks name the TypeScript files.
 */
'use strict';

require('./checkNode.cjs').requireNode();

const { enableCompileCache } = require('node:module');
const path = require('node:path');
const { buildCache } = require('./build/BuildCache.cjs');

/** @param {string} entry an absolute path @returns {Promise<void>} */
async function run(entry) {
  const name = path.basename(entry, '.ts');
  let directory;
  try {
    directory = buildCache.find(name) ?? (await build(name, entry));
  } catch (error) {
    if (Array.isArray(error?.errors)) {
      await printErrors(error.errors);
      process.exitCode = 1;
      return;
    }
    console.error(
      `Cannot keep the compiled program in ${buildCache.directory} (${error.message}), so each start takes a few seconds.`,
    );
    process.env['TSX_TSCONFIG_PATH'] ??= path.join(__dirname, '../tsconfig.node.json');
    require('tsx/cjs');
    require(entry);
    return;
  }
  process.setSourceMapsEnabled(true);
  // Node 22 has it; it halves the time that an unchanged program takes to load.
  enableCompileCache?.(path.join(directory, 'v8'));
  require(path.join(directory, 'program.cjs'));
}

/** @param {string} name @param {string} entry @returns {Promise<string>} */
function build(name, entry) {
  const { buildProgram } = require('./build/buildProgram.cjs');
  return buildCache.add(name, async (directory) => {
    const unknown = (await buildProgram(entry, directory)).find((file) => !buildCache.covers(file));
    if (unknown !== undefined)
      throw new Error(
        `an edit of ${unknown} would be missed: add its folder to SOURCES in scripts/build/BuildCache.cjs`,
      );
  });
}

/** @param {import('esbuild').Message[]} errors */
async function printErrors(errors) {
  const lines = await require('esbuild').formatMessages(errors, { kind: 'error', color: process.stderr.isTTY });
  for (const line of lines) console.error(line);
}

const [program] = process.argv.splice(2, 1);
if (program === undefined) {
  console.error('Usage: node scripts/run.cjs program.ts [arguments]');
  process.exitCode = 2;
} else {
  process.argv[1] = path.resolve(program);
  void run(process.argv[1]);
}
