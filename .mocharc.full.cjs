/** The same suites at their full counts, and those of browsers and coding agents. Long suites read BOLIDE_FULL. */
process.env.BOLIDE_FULL = '1';

const base = require('./.mocharc.cjs');

const more = ['tests/browser/**/*.test.ts', 'tests/agents/*.test.ts'];

module.exports = { ...base, spec: base.spec.length === 0 ? [] : [...base.spec, ...more] };
