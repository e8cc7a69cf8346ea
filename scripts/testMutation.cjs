/**
 * Mutation testing: changes the sources as StrykerJS does, one small change at a time, and lists the changes that no
 * test notices.
 *
 *   npm run test:mutation                       300 changes of a new seed
 *   npm run test:mutation -- --seed=7           those of that seed
 *   npm run test:mutation -- --count=60 imports/ui imports/api/http/jsonBody.ts
 *
 * Each is run against the nearest of the tests that it can affect. It is not a gate: some changes make no difference.
 */
'use strict';

require('../tests/runner/loadSources.cjs');
const { randomInt } = require('node:crypto');
const fs = require('node:fs');
const path = require('node:path');
const { affectedBy, findFault } = require('../tests/mutants/findFault.cjs');
const { sampleMutants } = require('../tests/mutants/sampleMutants.cjs');

const ROOT = path.join(__dirname, '..');

/** Where a change can be noticed in process: components are the browser's. */
const MUTATED = [
  'imports/business/ai/domain',
  'imports/business/ai/application',
  'imports/business/ai/infrastructure/converters',
  'imports/api',
  'imports/ui',
];
/** How many of the tests that a change can affect are run. */
const TESTS = 20;
/** At a time. */
const JOBS = 2;
/** Milliseconds, after which no other change is begun. */
const MAX_TIME = 20 * 60_000;

/** @param {readonly string[]} places files or folders @returns {string[]} relative to the repository */
function filesIn(places) {
  return places.flatMap((place) =>
    fs.statSync(path.join(ROOT, place)).isFile()
      ? [place]
      : fs
          .readdirSync(path.join(ROOT, place), { recursive: true })
          .filter((name) => /(?<!\.d)\.ts$/.test(name))
          .map((name) => path.join(place, name))
          .toSorted(),
  );
}

/** @param {readonly string[]} words of the command line */
function readArguments(words) {
  const options = { seed: randomInt(2 ** 31), count: 300 };
  const places = [];
  for (const word of words) {
    const [, name, value] = /^--(seed|count)=(\d+)$/.exec(word) ?? [];
    if (name !== undefined) options[name] = Number(value);
    else places.push(word.replace(/\/$/, ''));
  }
  return { ...options, places: places.length === 0 ? MUTATED : places };
}

async function main() {
  const startedAt = performance.now();
  const { seed, count, places } = readArguments(process.argv.slice(2));
  const mutants = await sampleMutants(filesIn(places), count, seed);
  console.log(`${mutants.length} changes, seed ${seed}`);
  const counts = { killed: 0, survived: 0, untested: 0 };
  const left = [...mutants];
  const work = async () => {
    for (;;) {
      const mutant = performance.now() - startedAt > MAX_TIME ? undefined : left.shift();
      if (mutant === undefined) return;
      const files = affectedBy([mutant]).slice(0, TESTS);
      const found = files.length === 0 ? undefined : await findFault([mutant], { files, confirms: false });
      const outcome = files.length === 0 ? 'untested' : found === undefined ? 'survived' : 'killed';
      counts[outcome] += 1;
      if (outcome !== 'killed') console.log(`${outcome}: ${describe(mutant)}`);
    }
  };
  await Promise.all(Array.from({ length: JOBS }, work));
  const { killed, survived, untested } = counts;
  const tried = killed + survived + untested;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(`${places.join(', ')}: ${tried} of ${mutants.length} changes tried in ${seconds} s, seed ${seed}`);
  const share = tried === 0 ? 0 : Math.round((100 * killed) / tried);
  console.log(`test:mutation: ${killed} killed, ${survived} survived, ${untested} without a test: ${share} %`);
}

/** @param {import('../tests/mutants/sampleMutants.cjs').Mutant} mutant */
function describe({ file, line, mutator, original, text }) {
  const short = (code) => (code.length > 120 ? `${code.slice(0, 120)}…` : code).replace(/\s+/g, ' ');
  return `${file}:${line} ${mutator}\n    ${short(original)}\n  → ${short(text)}`;
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
