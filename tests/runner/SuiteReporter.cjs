/**
 * Prints what failed, the slowest files, and one line of totals. Every passed test has a line with
 * `BOLIDE_VERBOSE=1`, or when few files run.
 */
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { reporters, Runner } = require('mocha');

const { EVENT_HOOK_END, EVENT_RUN_END, EVENT_TEST_BEGIN, EVENT_TEST_FAIL, EVENT_TEST_PASS } = Runner.constants;
const ROOT = path.join(__dirname, '../..');

/** How many of the slowest files are listed. */
const LISTED = 10;
/** Milliseconds; a faster file is not worth a line. */
const SLOW = 1_000;

class SuiteReporter extends reporters.Base {
  constructor(runner, options) {
    super(runner, options);
    /** Milliseconds of tests and their hooks, by file. @type {Map<string, number>} */
    this.times = new Map();
    /** @type {{ file: string, title: string }[]} */
    this.failed = [];
    const { results, verbose } = options.reporterOptions;
    runner.on(EVENT_HOOK_END, (hook) => this.addTime(hook));
    runner.on(EVENT_TEST_BEGIN, (test) => (this.current = test));
    runner.on(EVENT_TEST_PASS, (test) => {
      this.addTime(test);
      if (verbose) console.log(`  ✔ ${test.fullTitle()}`);
    });
    runner.on(EVENT_TEST_FAIL, (test) => {
      this.addTime(test);
      this.failed.push({ file: this.fileOf(test), title: test.fullTitle() });
      console.log(`  ✘ ${test.fullTitle()}`);
    });
    runner.once(EVENT_RUN_END, () => {
      this.listSlowest();
      this.epilogue();
      if (results !== undefined) fs.writeFileSync(results, JSON.stringify(this.toResults()));
    });
  }

  /** @returns {string} relative to the repository */
  fileOf(runnable) {
    return path.relative(ROOT, runnable.file ?? this.current?.file ?? '');
  }

  addTime(runnable) {
    const file = this.fileOf(runnable);
    this.times.set(file, (this.times.get(file) ?? 0) + (runnable.duration ?? 0));
  }

  listSlowest() {
    const slowest = [...this.times].filter(([, time]) => time >= SLOW).toSorted(([, a], [, b]) => b - a);
    if (slowest.length === 0) return;
    console.log('\n  The slowest files, in seconds:');
    for (const [file, time] of slowest.slice(0, LISTED))
      console.log(`  ${(time / 1_000).toFixed(1).padStart(6)}  ${file}`);
  }

  toResults() {
    const { passes, failures, pending } = this.stats;
    const { failed, times } = this;
    const failedFiles = new Set(failed.map(({ file }) => file));
    return { passes, failures, pending, failed, failedFiles: [...failedFiles], times: Object.fromEntries(times) };
  }
}

module.exports = SuiteReporter;
