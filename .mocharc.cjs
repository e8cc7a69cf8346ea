/** Unit, contract and property tests under plain Node. `npm test -- <files>` runs only those. */
process.env.TSX_TSCONFIG_PATH = 'tsconfig.node.json';

// Mocha adds files named on the command line to `spec`; here they replace it.
const namesFiles = process.argv.slice(2).some((argument) => argument.startsWith('tests/'));

module.exports = {
  // The longest files first, so that none is left to run alone at the end.
  spec: namesFiles ? [] : ['tests/types/**/*.test.ts', 'tests/contracts/**/*.test.ts', 'tests/unit/**/*.test.ts'],
  require: ['tsx/cjs', './tests/support/canaryHooks.ts', './tests/support/seedHooks.ts'],
  extension: ['ts', 'tsx'],
  // Milliseconds. Generous, because CI machines are slow and shared.
  timeout: 300_000,
  // The tests within a file run one after another. Many wait for a child process or a timer, so that three files at a
  // time keep two cores busy.
  parallel: true,
  jobs: 3,
  forbidOnly: true,
  forbidPending: process.env.CI === 'true',
};
