/**
 * Checks the version of Node before anything else is loaded. Written in ES5, so that every version can parse it. The
 * npm package has it, too, for `npx bolide`.
 */
'use strict';

var MINIMUM = [22, 13];

/**
 * @param {string} version such as `v20.19.1`
 * @returns {string | undefined} what is wrong with it
 */
function checkNodeVersion(version) {
  var parts = version.replace(/^v/, '').split('.');
  var major = Number(parts[0]);
  var minor = Number(parts[1]);
  if (major > MINIMUM[0] || (major === MINIMUM[0] && minor >= MINIMUM[1])) return undefined;
  return 'Bolide requires Node.js ' + MINIMUM.join('.') + ' or newer, but this is ' + version + '.';
}

/** Ends the process, after a sentence that says why, unless its Node is recent enough. */
function requireNode() {
  var fault = checkNodeVersion(process.version);
  if (fault === undefined) return;
  console.error(fault + ' Install a newer version from https://nodejs.org.');
  process.exit(1);
}

module.exports = { checkNodeVersion: checkNodeVersion, requireNode: requireNode };

if (require.main === module) requireNode();
