/** Meteor's server entry. */
import { Meteor } from 'meteor/meteor';
import { startMeteorServer } from '../imports/startup/meteor/startMeteorServer';

Meteor.startup(async () => {
  await startMeteorServer();
});
