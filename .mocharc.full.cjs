/** The same suites at their full counts, and the browser suites. Long suites read BOLIDE_FULL. */
process.env.BOLIDE_FULL = '1';

const base = require('./.mocharc.cjs');

module.exports = { ...base, spec: base.spec.length === 0 ? [] : [...base.spec, 'tests/browser/**/*.test.ts'] };
