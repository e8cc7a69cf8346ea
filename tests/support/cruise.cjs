/** The dependency rules in this process. Not TypeScript, whose `import()` becomes a `require` in tests. */
'use strict';

const path = require('node:path');

async function findViolations(directory, folders) {
  const { cruise } = await import('dependency-cruiser');
  const extract = await import('dependency-cruiser/config-utl/extract-depcruise-options');
  const options = await extract.default(path.join(directory, '.dependency-cruiser.cjs'));
  const { output } = await cruise(folders, { ...options, baseDir: directory });
  return output.summary.violations;
}

module.exports = { findViolations };
