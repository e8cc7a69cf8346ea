/** Meteor's server objects, which are the stubs in plain Node, as an app hands them in. */
import { Accounts } from 'meteor/accounts-base';
import { check, Match } from 'meteor/check';
import { DDPRateLimiter } from 'meteor/ddp-rate-limiter';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { WebApp } from 'meteor/webapp';

export const METEOR_PACKAGES = { Meteor, Mongo, WebApp, Accounts, DDPRateLimiter, check, Match };
