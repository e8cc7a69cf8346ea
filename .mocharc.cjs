/** Unit, contract and property tests under plain Node; long suites read BOLIDE_FULL for their counts. */
module.exports = {
  require: ['tsx/cjs', './tests/support/canaryHooks.ts'],
  extension: ['ts', 'tsx'],
  // Milliseconds, for machines that do other things too; what waits for an event may take longer there.
  timeout: 120_000,
  // Files run in two processes; within one, tests run one after another.
  parallel: true,
  jobs: 2,
  forbidOnly: true,
  forbidPending: process.env.CI === 'true',
  'full-trace': false,
};
