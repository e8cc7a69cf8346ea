/**
 * Whether a test notices a fault: runs those that its file can affect, nearest first, until one fails. The sources must
 * stay as they are meanwhile.
 */
'use strict';

const { spawn } = require('node:child_process');
const fs = require('node:fs');
const os = require('node:os');
const path = require('node:path');
const { buildBundles } = require('../runner/buildBundles.cjs');
const { selectAffected } = require('../runner/changedFiles.cjs');
const { ImportGraph } = require('../runner/importGraph.cjs');
const { SUITES } = require('../runner/suites.cjs');

const ROOT = path.join(__dirname, '../..');

/** @typedef {import('../runner/faults.cjs').Edit} Edit */
/** @typedef {{ file: string, title: string }} FailedTest */

/** So many of the nearest tests run in one process, which starts sooner than workers do. */
const NEAREST = 4;
/** Milliseconds, after which a fault counts as found: it has made a program hang. */
const MAX_TIME = 900_000;

/** @type {Promise<void> | undefined} */
let bundles;

const tests = SUITES.test.files();
const graph = new ImportGraph();

/**
 * @param {readonly Edit[]} edits
 * @param {{ files?: readonly string[], confirms?: boolean }} [options] the tests that are run, by default all that the
 *   edited files affect; whether a test that fails must pass without the fault, by default it must
 * @returns {Promise<FailedTest | undefined>} the first that fails because of the fault; undefined if none does
 */
async function findFault(edits, { files = affectedBy(edits), confirms = true } = {}) {
  let left = files;
  while (left.length > 0) {
    const group = left.slice(0, left === files ? NEAREST : Infinity);
    const failed = await firstFailure(edits, group);
    if (failed === undefined) left = left.slice(group.length);
    else if (!confirms || (await isDueTo(edits, failed))) return failed;
    else left = left.filter((file) => file !== failed.file);
  }
  return undefined;
}

/**
 * Whether a test fails again, but not without the fault: it may be broken, or the machine busy.
 * @param {readonly Edit[]} edits @param {FailedTest} failed
 */
async function isDueTo(edits, { file, title }) {
  // Neither a hook nor a file that cannot be loaded can be run by its title.
  const only = /" hook |^\(/.test(title) ? undefined : title;
  if ((await firstFailure([], [file], only)) !== undefined) return false;
  return (await firstFailure(edits, [file], only)) !== undefined;
}

/** @param {readonly Edit[]} edits @returns {string[]} tests relative to the repository, nearest first */
function affectedBy(edits) {
  const changed = [...new Set(edits.map(({ file }) => file))];
  const sources = new Set(changed.map((file) => path.join(ROOT, file)));
  const words = new Set(changed.flatMap(wordsOf));
  const distanceOf = (test) => {
    const shared = wordsOf(test).filter((word) => words.has(word)).length;
    const isUnit = test.startsWith('tests/unit/');
    return graph.distance(path.join(ROOT, test), sources) - 4 * shared + (isUnit ? 0 : 1);
  };
  return selectAffected(tests, changed, graph)
    .map((test) => ({ test, distance: distanceOf(test), size: graph.reachedFrom(path.join(ROOT, test)).size }))
    .toSorted((a, b) => a.distance - b.distance || a.size - b.size)
    .map(({ test }) => test);
}

/** @param {string} file @returns {string[]} the words of its name */
function wordsOf(file) {
  const [name = ''] = path.basename(file).split('.');
  return name.split(/(?=[A-Z])/).map((word) => word.toLowerCase());
}

/**
 * @param {readonly Edit[]} edits
 * @param {readonly string[]} files
 * @param {string} [title] of the only test to run
 * @returns {Promise<FailedTest | undefined>}
 */
async function firstFailure(edits, files, title) {
  const { jobs, timeout, env } = SUITES.test;
  // The soak plants faults, too.
  const { BOLIDE_SOAK: _, ...inherited } = process.env;
  const directory = fs.mkdtempSync(path.join(os.tmpdir(), 'bolide-fault-'));
  const results = path.join(directory, 'results.json');
  try {
    // Without them, tests fail for lack of a bundler.
    await (bundles ??= buildBundles(env.BOLIDE_SEED));
    const child = spawn(
      process.execPath,
      [
        path.join(ROOT, 'node_modules/mocha/bin/mocha.js'),
        ...['--bail', '--exit', '--timeout', String(timeout)],
        ...(files.length <= NEAREST ? ['--no-parallel'] : ['--jobs', String(jobs)]),
        ...['--reporter', path.join(ROOT, 'tests/runner/SuiteReporter.cjs'), '--reporter-option', `results=${results}`],
        ...(title === undefined ? [] : ['--fgrep', title]),
        ...files,
      ],
      {
        cwd: ROOT,
        env: { ...inherited, ...env, BOLIDE_FAULTS: JSON.stringify(edits) },
        stdio: 'ignore',
        timeout: MAX_TIME,
      },
    );
    const [code, killed] = await new Promise((resolve, reject) => {
      child.once('error', reject);
      child.once('close', (...end) => resolve(end));
    });
    if (code === 0) return undefined;
    const { failed = [] } = fs.existsSync(results) ? JSON.parse(fs.readFileSync(results, 'utf8')) : {};
    return failed[0] ?? { file: files[0] ?? '', title: killed === null ? '(cannot be loaded)' : '(hangs)' };
  } finally {
    fs.rmSync(directory, { recursive: true });
  }
}

/**
 * @param {{ file: string, find: string, replace: string }} fault
 * @returns {Edit}
 * @throws if what it replaces is not there, or more than once
 */
function editOf({ file, find, replace }) {
  const source = fs.readFileSync(path.join(ROOT, file), 'utf8');
  const start = source.indexOf(find);
  if (start === -1 || source.indexOf(find, start + 1) !== -1)
    throw new Error(`${file} has ${start === -1 ? 'no' : 'more than one'} ${JSON.stringify(find)}.`);
  return { file, start, end: start + find.length, text: replace };
}

module.exports = { affectedBy, editOf, findFault, firstFailure };
