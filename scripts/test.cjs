/**
 * Runs a suite of tests: `npm test`, `npm run test:smoke`, `npm run test:soak`.
 *
 *   npm test -- tests/unit/ui           the files in that folder, or that file
 *   npm test -- --changed               what the changes since origin/main can have broken; --changed=<commit>
 *   npm test -- --shuffle=7             the files in a random order of that seed
 *   npm test -- --each                  every file alone, in a process of its own
 *   npm test -- --repeat=30 --busy=6    so many times, beside so many processes that do nothing but compute
 *   npm test -- --grep "retry-after"    and what else mocha understands
 *
 * A smoke test that fails is repeated once, and the last lines say so.
 */
'use strict';

require('./checkNode.cjs').requireNode();

const { spawn, spawnSync } = require('node:child_process');
const { once } = require('node:events');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { buildBundles } = require('../tests/runner/buildBundles.cjs');
const { compileSources } = require('../tests/runner/compileSource.cjs');
const { changedSince, selectAffected } = require('../tests/runner/changedFiles.cjs');
const { SUITES } = require('../tests/runner/suites.cjs');

/**
 * @typedef {{ passes: number, failures: number, failedFiles: string[], code: number, seconds: number }} Result
 * @typedef {{ suite: string, changed?: string | true, shuffle?: string, each?: true, repeat?: string, busy?: string }}
 *   Options
 */

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

/** @param {readonly string[]} words of the command line */
function readArguments(words) {
  /** @type {Options} */
  const options = { suite: 'test' };
  const paths = [];
  const mochaArguments = [];
  for (const word of words) {
    const [, name, value] = /^--(suite|changed|shuffle|each|repeat|busy)(?:=(.+))?$/.exec(word) ?? [];
    if (name !== undefined) options[name] = value ?? true;
    else if (word.startsWith('tests/')) paths.push(word.replace(/\/$/, ''));
    else mochaArguments.push(word);
  }
  return { options, paths, mochaArguments };
}

/**
 * @param {(typeof SUITES)[string]} suite
 * @param {Options} options
 * @param {readonly string[]} paths
 * @returns {string[]}
 */
function selectFiles(suite, options, paths) {
  const all = suite.files();
  const missing = paths.find((each) => !all.some((file) => isWithin(file, each)));
  if (missing !== undefined) throw new Error(`The suite ${options.suite} has no tests in ${missing}.`);
  const named = paths.length === 0 ? all : all.filter((file) => paths.some((each) => isWithin(file, each)));
  if (options.changed === undefined) return named;
  return selectAffected(named, changedSince(options.changed === true ? 'origin/main' : options.changed));
}

/** @param {string} file @param {string} place that file or a folder */
const isWithin = (file, place) => file === place || file.startsWith(`${place}/`);

/** The coding agents take 750 MB, so only their own tests install them. @param {readonly string[]} files */
function installAgents(files) {
  if (!files.some((file) => isWithin(file, 'tests/agents'))) return;
  const command = ['ci', '--prefix', 'tests/agents', '--no-audit', '--no-fund'];
  const { status } = spawnSync('npm', command, { cwd: ROOT, stdio: 'inherit', shell: process.platform === 'win32' });
  if (status !== 0) throw new Error('npm cannot install the coding agents of tests/agents.');
}

/** @param {readonly string[]} files @param {number} seed @returns {string[]} */
function shuffled(files, seed) {
  let state = seed >>> 0;
  const next = () => (state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0);
  return files
    .map((file) => ({ file, at: next() }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ file }) => file);
}

/**
 * @param {(typeof SUITES)[string]} suite
 * @param {readonly string[]} files
 * @param {readonly string[]} mochaArguments
 * @returns {Promise<Result>}
 */
async function runMocha(suite, files, mochaArguments) {
  const startedAt = performance.now();
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bolide-tests-'));
  const results = path.join(directory, 'results.json');
  const verbose = files.length < FEW || process.env.BOLIDE_VERBOSE !== undefined;
  const child = spawn(
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
  const [code] = await once(child, 'close');
  const isComplete = fs.existsSync(results);
  const { passes, failures, failedFiles } = isComplete
    ? JSON.parse(fs.readFileSync(results, 'utf8'))
    : { passes: 0, failures: 1, failedFiles: [...files] };
  fs.rmSync(directory, { recursive: true });
  return { passes, failures, failedFiles, code: code ?? 1, seconds: (performance.now() - startedAt) / 1_000 };
}

/** @param {number} count @returns {() => void} ends them */
function startBusyProcesses(count) {
  const children = Array.from({ length: count }, () => spawn(process.execPath, ['--eval', 'for (;;);']));
  const stop = () => children.forEach((child) => child.kill('SIGKILL'));
  process.once('exit', stop);
  return stop;
}

/** @param {readonly Result[]} results @returns {Result} */
function sum(results) {
  const total = (name) => results.reduce((amount, result) => amount + result[name], 0);
  return {
    passes: total('passes'),
    failures: total('failures'),
    failedFiles: [...new Set(results.flatMap((result) => result.failedFiles))],
    code: Math.max(...results.map(({ code }) => code)),
    seconds: total('seconds'),
  };
}

async function main() {
  const startedAt = performance.now();
  const { options, paths, mochaArguments } = readArguments(process.argv.slice(2));
  const suite = SUITES[options.suite];
  if (suite === undefined) throw new Error(`There is no suite ${options.suite}: ${Object.keys(SUITES).join(', ')}.`);
  await compileSources(sources());
  const files = selectFiles(suite, options, paths);
  if (files.length === 0) return console.log('No test is affected.');
  installAgents(files);
  const stopBusyProcesses = startBusyProcesses(Number(options.busy ?? 0));
  const results = [];
  for (let round = 0; round < Number(options.repeat ?? 1); round++) {
    const ordered = options.shuffle === undefined ? files : shuffled(files, Number(options.shuffle) + round);
    await buildBundles(suite.env.BOLIDE_SEED);
    const runs = options.each === true ? ordered.map((file) => [file]) : [ordered];
    for (const each of runs) results.push(await runMocha(suite, each, mochaArguments));
    if (options.repeat !== undefined) {
      const { passes, failures, seconds } = sum(results.slice(-runs.length));
      console.log(`run ${round + 1}: ${passes} passed, ${failures} failed, ${Math.round(seconds)} s`);
    }
  }
  stopBusyProcesses();
  let { passes, failures, failedFiles, code } = sum(results);
  if (options.suite === 'smoke' && failures > 0) {
    const repeated = await runMocha(suite, failedFiles, mochaArguments);
    console.log(`Repeated because of failures: ${failedFiles.join(', ')}. Then ${repeated.failures} failed.`);
    // What passes the second time is passed, and still a fault to find.
    passes += failures - repeated.failures;
    ({ failures, code } = repeated);
  }
  const seconds = Math.round((performance.now() - startedAt) / 1_000);
  console.log(`${options.suite}: ${passes} passed, ${failures} failed, ${files.length} files, ${seconds} s`);
  process.exitCode = code === 0 ? 0 : 1;
}

main().catch((error) => {
  console.error(error.message);
  process.exitCode = 1;
});
