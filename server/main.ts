/** Meteor's server entry. */
import { Meteor } from 'meteor/meteor';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { registerDemoTools } from '../imports/startup/registerDemoTools';
import { startBolide } from '../imports/startup/meteor/startBolide';

// Meteor accepts connections only when this has resolved.
Meteor.startup(async () => {
  await startBolide({ tools: registerDemoTools(new ToolRegistry()), ownsAccounts: true });
});
