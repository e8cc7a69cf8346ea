/** Unit, contract and property tests under plain Node; long suites read BOLIDE_FULL for their counts. */
module.exports = {
  require: ['tsx/cjs', './tests/support/canaryHooks.ts'],
  extension: ['ts', 'tsx'],
  timeout: 20_000,
  forbidOnly: true,
  forbidPending: process.env.CI === 'true',
  'full-trace': false,
};
