/**
 * Checks the version of Node before anything else is loaded. Written in ES5, so that every version can parse it.
 */
'use strict';

var MINIMUM = [20, 19];
/** What the vendors' SDKs ask for. */
var RECOMMENDED = [22, 0];

/**
 * @param {string} version such as `v20.19.1`
 * @returns {{ level: 'ok' | 'warning' | 'error', message: string }}
 */
function checkNodeVersion(version) {
  if (isOlder(version, MINIMUM))
    return {
      level: 'error',
      message:
        'Bolide requires Node.js ' +
        MINIMUM.join('.') +
        ' or newer, but this is ' +
        version +
        '. Install a newer version from https://nodejs.org.',
    };
  if (isOlder(version, RECOMMENDED))
    return {
      level: 'warning',
      message:
        'Warning: Node.js ' +
        version +
        ' works, but the vendors’ SDKs ask for Node.js ' +
        RECOMMENDED[0] +
        ' or newer.',
    };
  return { level: 'ok', message: '' };
}

/** @param {string} version @param {number[]} minimum major and minor version */
function isOlder(version, minimum) {
  var parts = version.replace(/^v/, '').split('.');
  var major = Number(parts[0]);
  var minor = Number(parts[1]);
  return major < minimum[0] || (major === minimum[0] && minor < minimum[1]);
}

module.exports = { checkNodeVersion: checkNodeVersion };

if (require.main === module) {
  var result = checkNodeVersion(process.version);
  if (result.message !== '') console.error(result.message);
  if (result.level === 'error') process.exit(1);
}
