/** Meteor's server entry. */
import { Meteor } from 'meteor/meteor';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { registerDemoTools } from '../imports/startup/registerDemoTools';
import { configureAccounts } from '../imports/startup/meteor/configureAccounts';
import { startMeteorServer } from '../imports/startup/meteor/startMeteorServer';

// Meteor accepts connections only when this has resolved.
Meteor.startup(async () => {
  await configureAccounts(Meteor.settings['ai']);
  await startMeteorServer({ tools: registerDemoTools(new ToolRegistry()) });
});
