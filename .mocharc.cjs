// For mocha without scripts/test.cjs, as editors run it.
process.env.BOLIDE_SUITE ??= 'test';

/** What mocha loads before tests. `npm test` is scripts/test.cjs, which also says which files a suite has. */
module.exports = {
  require: [
    './tests/runner/loadSources.cjs',
    './tests/runner/suiteRules.ts',
    './tests/support/canaryHooks.ts',
    './tests/support/seedHooks.ts',
  ],
  extension: ['ts', 'tsx'],
  timeout: 30_000,
  // The tests within a file run one after another.
  parallel: true,
  forbidOnly: true,
  forbidPending: process.env.CI === 'true',
};
