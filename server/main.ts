/** Meteor's server entry. */
import { Accounts } from 'meteor/accounts-base';
import { check, Match } from 'meteor/check';
import { DDPRateLimiter } from 'meteor/ddp-rate-limiter';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { WebApp } from 'meteor/webapp';
import { ToolRegistry } from '../imports/business/ai/infrastructure/tools/ToolRegistry';
import { registerDemoTools } from '../imports/host/registerDemoTools';
import { startBolide } from '../imports/host/meteor/startBolide';

// Meteor accepts connections only when this has resolved.
Meteor.startup(async () => {
  const packages = { Meteor, Mongo, WebApp, Accounts, DDPRateLimiter, check, Match };
  await startBolide({ ...packages, tools: registerDemoTools(new ToolRegistry()), ownsAccounts: true, httpPath: '' });
});
