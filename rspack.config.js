/** Meteor 3.4 and newer use this file after `meteor add rspack`; the classic bundler does not read it. */
const { defineConfig } = require('@meteorjs/rspack');

/** They require optional packages or computed paths, which Rspack cannot resolve. Node loads them from node_modules. */
const LOADED_BY_NODE = ['agenda', 'express', 'ws'];

module.exports = defineConfig((Meteor) => (Meteor.isServer ? Meteor.compileWithMeteor(LOADED_BY_NODE) : {}));
