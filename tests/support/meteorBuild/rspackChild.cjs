/**
 * Bundles the app of the working directory as Meteor's Rspack packages do for production, with Meteor's own
 * configuration: `node rspackChild.cjs server` or `client`. NODE_PATH is where the bundler's packages are.
 * https://github.com/meteor/meteor/blob/release/METEOR%403.4.1/packages/rspack/lib/processes.js
 */
'use strict';

const fs = require('node:fs');
const path = require('node:path');
const { rspack } = require('@rspack/core');
const configure = require('@meteorjs/rspack/rspack.config.js');

const side = process.argv[2];
const { meteor } = JSON.parse(fs.readFileSync('package.json', 'utf8'));
const BUILD = '_build';
const folder = path.join(BUILD, 'main-prod');

async function main() {
  fs.mkdirSync(folder, { recursive: true });
  fs.writeFileSync(path.join(folder, `${side}-entry.js`), `import '../../${meteor.mainModule[side]}';`);
  fs.writeFileSync(path.join(folder, `${side}-meteor.js`), `import './${side}-rspack.js';`);
  const configuration = await configure({
    isProduction: true,
    isBuild: true,
    isClient: side === 'client',
    isServer: side === 'server',
    entryPath: `main-prod/${side}-entry.js`,
    outputPath: `main-prod/${side}-rspack.js`,
    outputFilename: `${side}-rspack.js`,
    runPath: `main-prod/${side}-meteor.js`,
    buildContext: BUILD,
    projectConfigPath: path.resolve('rspack.config.js'),
    configPath: require.resolve('@meteorjs/rspack/rspack.config.js'),
    mainClientEntry: meteor.mainModule.client,
    mainServerEntry: meteor.mainModule.server,
    swcExternalHelpers: true,
    isReactEnabled: true,
    isTypescriptEnabled: true,
    isTsxEnabled: true,
  });
  rspack(configuration, (error, stats) => {
    if (error === null && !stats.hasErrors()) return;
    console.error(error ?? stats.toString({ preset: 'errors-only' }));
    process.exitCode = 1;
  });
}

void main();
