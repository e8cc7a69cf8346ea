/** Meteor 3.4 and newer use this file after `meteor add rspack`; the classic bundler does not read it. */
const { defineConfig } = require('@meteorjs/rspack');

/** They require optional packages or computed paths, which Rspack cannot resolve. Node loads them from node_modules. */
const LOADED_BY_NODE = ['@agendajs/mongo-backend', 'agenda', 'express', 'ws'];

/**
 * The default adds the lines of `.meteorignore` at any depth: `/docs` would ignore every change to an app in a folder
 * below one called `docs`. Rspack watches what it has bundled, so there is nothing else to ignore.
 */
const WATCHED = { watchOptions: { ignored: /[\\/](?:node_modules|\.meteor[\\/]local)[\\/]/ } };

module.exports = defineConfig((Meteor) => ({
  ...WATCHED,
  // The dashboard is one script, and larger than what the default warns of.
  performance: { hints: false },
  ...(Meteor.isServer ? Meteor.compileWithMeteor(LOADED_BY_NODE) : {}),
}));
