/** What tests load as bundles, which are built before they begin: a bundler is a process of its own. */
'use strict';

require('./loadSources.cjs');

/** Builds what has changed since it was built. @param {string | undefined} seed of the suite */
async function buildBundles(seed) {
  const { cachedDashboard } = require('../../server/cachedDashboard.ts');
  const { bundledEngine } = require('../simulation/EngineBundle.ts');
  const { bundledMachines } = require('../simulation/machine/MachineBundle.ts');
  const { buildPage } = require('../support/meteorClient/buildPage.ts');
  await Promise.all([cachedDashboard(), buildPage(), bundledEngine(), bundledMachines(seed)]);
}

module.exports = { buildBundles };
