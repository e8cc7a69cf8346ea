/**
 * Compiles files as Meteor does with Babel. It runs in a process of its own, because @meteorjs/babel patches Node's
 * module system and needs `Module.prototype.resolve`, which Meteor's tool adds.
 */
const Module = require('node:module');

Module.prototype.resolve = function (id) {
  return Module._resolveFilename(id, this);
};
const babel = require('@meteorjs/babel');

/** What Meteor enables for each program. */
const FEATURES = {
  os: { nodeMajorVersion: 20, topLevelAwait: true },
  'web.browser': { modernBrowsers: true },
  'web.browser.legacy': {},
};

function compile({ file, source, arch, plugins }) {
  const features = { react: true, typescript: true, jscript: true, useNativeAsyncAwait: true, ...FEATURES[arch] };
  const options = {
    ...babel.getDefaultOptions(features),
    caller: { name: 'meteor', arch },
    sourceMaps: true,
    filename: file,
    sourceFileName: file,
  };
  if (plugins.length > 0) options.plugins = plugins.map(([name, settings]) => [require(name), settings]);
  return babel.compile(source, options, false).code;
}

process.on('message', (inputs) => {
  const outputs = inputs.map((input) => {
    try {
      return { code: compile(input) };
    } catch (error) {
      return { error: error.message };
    }
  });
  process.send(outputs, () => process.disconnect());
});
