/**
 * Runs a suite of tests: `npm test`, `npm run test:smoke`, `npm run test:soak`.
 *
 *   npm test -- tests/unit/ui               the files there, or that file
 *   npm test -- --changed                   what the changes since origin/main can have broken; --changed=<commit>
 *   npm test -- --shuffle=7                 the files in a random order of that seed
 *   npm test -- --each                      every file alone, in a process of its own
 *   npm test -- --grep "retry-after"        and what else mocha understands
 *
 * A smoke test that fails is repeated once, and the last lines say so.
 */
'use strict';

const { spawnSync } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { compileSources } = require('../tests/runner/compileSource.cjs');
const { changedSince, selectAffected } = require('../tests/runner/changedFiles.cjs');
const { SUITES } = require('../tests/runner/suites.cjs');

const ROOT = path.join(__dirname, '..');
const COMPILED = ['client', 'examples', 'imports', 'packages', 'scripts', 'server', 'tests'];
/** A run of fewer files lists each test. */
const FEW = 20;

/** @returns {string[]} absolute paths of what tests can load */
function sources() {
  return COMPILED.flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile() && /(?<!\.d)\.tsx?$/.test(entry.name))
      .map((entry) => path.join(entry.parentPath, entry.name))
      .filter((file) => !file.includes('node_modules')),
  );
}

/** What tests load as bundles: esbuild is a process of its own. */
async function buildPages() {
  const { cachedDashboard } = require('../server/cachedDashboard.ts');
  const { buildPage } = require('../tests/support/meteorClient/buildPage.ts');
  await Promise.all([cachedDashboard(), buildPage()]);
}

/** @param {readonly string[]} files @param {number} seed @returns {string[]} */
function shuffled(files, seed) {
  let state = seed >>> 0;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) / 2 ** 32;
  return files
    .map((file) => ({ file, at: next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ file }) => file);
}

/**
 * @param {(typeof SUITES)[string]} suite
 * @param {readonly string[]} files
 * @param {readonly string[]} mochaArguments
 * @returns {{ passes: number, failures: number, pending: number, failedFiles: string[], code: number }}
 */
function runMocha(suite, files, mochaArguments) {
  const results = path.join(fs.mkdtempSync(path.join(os.tmpdir(), 'bolide-tests-')), 'results.json');
  const verbose = files.length < FEW || process.env.BOLIDE_VERBOSE !== undefined;
  const { status } = spawnSync(
    process.execPath,
    [
      path.join(ROOT, 'node_modules/mocha/bin/mocha.js'),
      ...['--timeout', String(suite.timeout), '--jobs', String(suite.jobs)],
      ...['--reporter', path.join(ROOT, 'tests/runner/SuiteReporter.cjs')],
      ...['--reporter-option', `results=${results}${verbose ? ',verbose=true' : ''}`],
      ...mochaArguments,
      ...files,
    ],
    { cwd: ROOT, stdio: 'inherit', env: { ...process.env, ...suite.env } },
  );
  const none = { passes: 0, failures: 1, pending: 0, failedFiles: [] };
  const found = fs.existsSync(results) ? JSON.parse(fs.readFileSync(results, 'utf8')) : none;
  fs.rmSync(path.dirname(results), { recursive: true });
  return { ...found, code: status ?? 1 };
}

/** @param {readonly string[]} words of the command line @returns options of this program, paths, and mocha's words */
function readArguments(words) {
  const options = { suite: 'test' };
  const paths = [];
  const mochaArguments = [];
  for (const word of words) {
    const [, name, value] = /^--(suite|changed|shuffle|each)(?:=(.+))?$/.exec(word) ?? [];
    if (name !== undefined) options[name] = value ?? true;
    else if (word.startsWith('tests/')) paths.push(word.replace(/\/$/, ''));
    else mochaArguments.push(word);
  }
  return { options, paths, mochaArguments };
}

/** @param {(typeof SUITES)[string]} suite @param {ReturnType<typeof readArguments>} request @returns {string[]} */
function selectFiles(suite, { options, paths }) {
  const all = suite.files();
  const missing = paths.find((each) => !all.some((file) => isWithin(file, each)));
  if (missing !== undefined) throw new Error(`The suite ${options.suite} has no tests in ${missing}.`);
  const named = paths.length === 0 ? all : all.filter((file) => paths.some((each) => isWithin(file, each)));
  const files =
    options.changed === undefined
      ? named
      : selectAffected(named, changedSince(options.changed === true ? 'origin/main' : options.changed));
  return options.shuffle === undefined ? files : shuffled(files, Number(options.shuffle));
}

/** @param {string} file @param {string} place that file or a folder */
const isWithin = (file, place) => file === place || file.startsWith(`${place}/`);

async function main() {
  const startedAt = performance.now();
  const request = readArguments(process.argv.slice(2));
  const { options, mochaArguments } = request;
  const suite = SUITES[options.suite];
  if (suite === undefined) throw new Error(`There is no suite ${options.suite}: ${Object.keys(SUITES).join(', ')}.`);
  await compileSources(sources());
  await buildPages();
  const files = selectFiles(suite, request);
  if (files.length === 0) return console.log('No test is affected.');
  const runs = options.each === true ? files.map((file) => [file]) : [files];
  const results = runs.map((each) => runMocha(suite, each, mochaArguments));
  const failedFiles = results.flatMap((result) => result.failedFiles);
  const mustRepeat = options.suite === 'smoke' && failedFiles.length > 0;
  const repeated = mustRepeat ? runMocha(suite, failedFiles, mochaArguments) : undefined;
  const total = (name) => results.reduce((sum, result) => sum + result[name], 0);
  // What a repetition passes is passed, but never silently.
  const failed = repeated === undefined ? total('failures') : repeated.failures;
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  if (mustRepeat)
    console.log(
      `Repeated because of failures: ${failedFiles.join(', ')}. The second time, ${repeated.failures} failed.`,
    );
  console.log(`${options.suite}: ${total('passes')} passed, ${failed} failed, ${files.length} files, ${seconds} s`);
  process.exitCode = (repeated === undefined ? results : [repeated]).every(({ code }) => code === 0) ? 0 : 1;
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
