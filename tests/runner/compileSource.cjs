/**
 * TypeScript to CommonJS, kept in node_modules/.cache/bolide/modules under a digest of the source and of how it is
 * compiled: whatever else has changed, and in whichever process, a source is compiled once.
 */
'use strict';

const { createHash, randomUUID } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const esbuild = require('esbuild');
const { withFaults } = require('./faults.cjs');

const ROOT = path.join(__dirname, '../..');
const DIRECTORY = path.join(ROOT, 'node_modules/.cache/bolide/modules');

/** @type {import('esbuild').TransformOptions} */
const OPTIONS = {
  format: 'cjs',
  target: `node${process.versions.node}`,
  platform: 'node',
  sourcemap: 'inline',
  sourcesContent: false,
  // Sources are resolved as `require` does, which finds .ts and .tsx.
  supported: { 'dynamic-import': false },
  keepNames: true,
  tsconfigRaw: fs.readFileSync(path.join(ROOT, 'tsconfig.json'), 'utf8'),
};

const VERSION = JSON.stringify([esbuild.version, OPTIONS]);

/** @param {string} file @param {string} source */
function placeOf(file, source) {
  const digest = createHash('sha256').update(VERSION).update(file).update('\0').update(source).digest('hex');
  return path.join(DIRECTORY, `${digest.slice(0, 32)}.js`);
}

/** @param {string} file an absolute path @returns {import('esbuild').TransformOptions} */
const optionsFor = (file) => ({ ...OPTIONS, sourcefile: file, loader: file.endsWith('x') ? 'tsx' : 'ts' });

/** @param {string} place @param {string} code */
function keep(place, code) {
  const temporary = `${place}.${randomUUID()}`;
  fs.writeFileSync(temporary, code);
  fs.renameSync(temporary, place);
}

/**
 * @param {string} file an absolute path
 * @returns {string} the module's code
 * @throws esbuild's TransformFailure, which names file and line
 */
function compileSource(file) {
  const source = withFaults(file, fs.readFileSync(file, 'utf8'));
  const place = placeOf(file, source);
  try {
    return fs.readFileSync(place, 'utf8');
  } catch {
    const { code } = esbuild.transformSync(source, optionsFor(file));
    fs.mkdirSync(DIRECTORY, { recursive: true });
    keep(place, code);
    return code;
  }
}

/**
 * Compiles those that have changed, in one process and on all cores. A source that does not compile is left to whoever
 * loads it.
 * @param {readonly string[]} files absolute paths
 * @returns {Promise<number>} how many had changed
 */
async function compileSources(files) {
  fs.mkdirSync(DIRECTORY, { recursive: true });
  const kept = new Set(fs.readdirSync(DIRECTORY));
  const used = new Set();
  const changed = [];
  for (const file of files) {
    const source = fs.readFileSync(file, 'utf8');
    const place = placeOf(file, source);
    used.add(path.basename(place));
    if (!kept.has(path.basename(place))) changed.push({ file, source, place });
  }
  await Promise.all(
    changed.map(({ file, source, place }) =>
      esbuild.transform(source, optionsFor(file)).then(
        ({ code }) => keep(place, code),
        () => undefined,
      ),
    ),
  );
  // What no source has come to any more. Some are kept for the other branches of a checkout.
  const unused = [...kept].filter((name) => !used.has(name));
  if (unused.length > 2 * used.size) for (const name of unused) fs.rmSync(path.join(DIRECTORY, name), { force: true });
  return changed.length;
}

module.exports = { compileSource, compileSources };
