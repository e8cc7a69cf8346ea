/** The three suites: what each consists of, and what it may do. */
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { ImportGraph } = require('./importGraph.cjs');

const ROOT = path.join(__dirname, '../..');

/** @param {readonly string[]} folders @returns {string[]} paths relative to the repository */
function testsIn(folders) {
  return folders.flatMap((folder) =>
    fs
      .readdirSync(path.join(ROOT, folder), { recursive: true })
      .filter((name) => name.endsWith('.test.ts'))
      .map((name) => path.join(folder, name))
      .toSorted(),
  );
}

const TEST = ['tests/types', 'tests/contracts', 'tests/simulation', 'tests/unit'];

/** What the other suites sample: files that ask whether this is the soak. */
function sampled() {
  const graph = new ImportGraph();
  const asked = path.join(ROOT, 'tests/support/soak.ts');
  return testsIn([...TEST, 'tests/smoke']).filter((file) => graph.reachedFrom(path.join(ROOT, file)).has(asked));
}

/** Random tests repeat the same cases, so that a failure is due to the change. The soak takes new ones. */
const SEED = process.env.BOLIDE_SEED ?? '20261122';

/** @type {Record<string, { files: () => string[], timeout: number, jobs: number, env: Record<string, string> }>} */
const SUITES = {
  // A time limit ends a hang, and is the same for all. Milliseconds.
  test: { files: () => testsIn(TEST), timeout: 30_000, jobs: 2, env: { BOLIDE_SUITE: 'test', BOLIDE_SEED: SEED } },
  smoke: {
    files: () => testsIn(['tests/smoke']),
    timeout: 300_000,
    jobs: 2,
    env: { BOLIDE_SUITE: 'smoke', BOLIDE_SEED: SEED },
  },
  soak: {
    files: () => [...testsIn(['tests/soak', 'tests/browser', 'tests/agents']), ...sampled()],
    timeout: 600_000,
    jobs: 3,
    env: { BOLIDE_SUITE: 'soak', BOLIDE_SOAK: '1' },
  },
};

module.exports = { SUITES };
