/** Has `require` load the TypeScript of this repository: with mocha, `--require tests/runner/loadSources.cjs`. */
'use strict';

const Module = require('node:module');
const path = require('node:path');
const { compileSource } = require('./compileSource.cjs');
const { compilerOptions } = require('../../tsconfig.node.json');

const ROOT = path.join(__dirname, '../..');

/** By specifier, or by its part before `*`. */
const PATHS = Object.entries(compilerOptions.paths).map(([pattern, [target]]) => ({
  pattern: pattern.replace('*', ''),
  isPrefix: pattern.endsWith('*'),
  target: path.join(ROOT, target.replace('*', '')),
}));

/** @param {string} specifier */
function mapped(specifier) {
  for (const { pattern, isPrefix, target } of PATHS)
    if (isPrefix ? specifier.startsWith(pattern) : specifier === pattern)
      return isPrefix ? path.join(target, specifier.slice(pattern.length)) : target;
  return specifier;
}

const resolveFilename = Module._resolveFilename;
Module._resolveFilename = function (specifier, parent, ...rest) {
  return resolveFilename.call(this, mapped(specifier), parent, ...rest);
};

for (const extension of ['.ts', '.tsx'])
  Module._extensions[extension] = (module, file) => module._compile(compileSource(file), file);

module.exports = { mapped };

process.setSourceMapsEnabled(true);
// From Node 22.1 on, V8's code of packages is kept, too.
Module.enableCompileCache?.(path.join(ROOT, 'node_modules/.cache/bolide/v8'));
