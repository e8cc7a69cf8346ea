/** A seeded sample of what StrykerJS would change in the sources, as edits. */
'use strict';

const fs = require('node:fs');
const path = require('node:path');

const ROOT = path.join(__dirname, '../..');

/**
 * Texts are not changed: most are for people, and a test that repeats one proves nothing.
 * https://stryker-mutator.io/docs/mutation-testing-elements/supported-mutators
 */
const EXCLUDED = ['StringLiteral'];

/** @typedef {import('../runner/faults.cjs').Edit & { line: number, mutator: string, original: string }} Mutant */

/**
 * @param {readonly string[]} files relative to the repository
 * @param {number} count
 * @param {number} seed
 * @returns {Promise<readonly Mutant[]>} in a random order; a longer file has more of them
 */
async function sampleMutants(files, count, seed) {
  const next = random(seed);
  const sources = files.map((file) => ({ file, source: fs.readFileSync(path.join(ROOT, file), 'utf8') }));
  const total = sources.reduce((sum, { source }) => sum + source.length, 0);
  const known = new Map();
  const sampled = new Map();
  // Some files have nothing to change.
  for (let attempts = 0; sampled.size < count && attempts < 10 * count; attempts++) {
    let at = next() * total;
    const { file, source } = sources.find((each) => (at -= each.source.length) < 0) ?? sources[0];
    const mutants = known.get(file) ?? (await mutantsOf(file, source));
    known.set(file, mutants);
    const mutant = mutants[Math.floor(next() * mutants.length)];
    if (mutant !== undefined) sampled.set(`${file} ${mutant.start} ${mutant.end} ${mutant.text}`, mutant);
  }
  return [...sampled.values()];
}

/** @param {string} file @param {string} source @returns {Promise<readonly Mutant[]>} */
async function mutantsOf(file, source) {
  const { Instrumenter } = await import('@stryker-mutator/instrumenter');
  const silent = { debug: () => undefined, info: () => undefined, isDebugEnabled: () => false };
  const { mutants } = await new Instrumenter(silent).instrument([{ name: file, mutate: true, content: source }], {
    plugins: null,
    ignorers: [],
    excludedMutations: EXCLUDED,
  });
  const lines = [0];
  for (let at = source.indexOf('\n'); at !== -1; at = source.indexOf('\n', at + 1)) lines.push(at + 1);
  const offsetOf = ({ line, column }) => (lines[line] ?? 0) + column;
  return mutants
    .filter(({ status }) => status === undefined)
    .map(({ location, replacement, mutatorName: mutator }) => {
      const [start, end] = [offsetOf(location.start), offsetOf(location.end)];
      // Without parentheses, an expression may bind with the text beside it.
      const isExpression = mutator !== 'BlockStatement' && !/^(?:;|case\b.*:|default:)$/s.test(replacement);
      const text = isExpression ? `(${replacement})` : replacement;
      return { file, start, end, text, line: location.start.line + 1, mutator, original: source.slice(start, end) };
    });
}

/** @param {number} seed @returns {() => number} from 0 to 1 */
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

module.exports = { sampleMutants };
