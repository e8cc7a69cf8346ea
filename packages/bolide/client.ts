/** `meteor/bolide:bolide` in browsers: methods, collections and the reactive helpers of `bolide/meteor-client`. */
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import { createBolide, createMeteorHelpers, openCollections } from 'bolide/meteor-client';

/** For `createMeteorData` of `bolide/react`, which only apps with React import. */
export const meteorPackages = { Meteor, Mongo, Tracker };

/** The methods of Bolide as functions: `bolide.runs.start({ … })`. */
export const bolide = createBolide(meteorPackages);

export const {
  RunsCollection,
  ToolCallsCollection,
  DeltasCollection,
  StatsCollection,
  MemoriesCollection,
  ProvidersCollection,
} = openCollections(meteorPackages);

export const { createConversation, trackRun, trackDelta, trackToolCalls, callMethod } =
  createMeteorHelpers(meteorPackages);
