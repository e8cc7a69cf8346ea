/** `meteor/bolide:bolide` in browsers: the reactive helpers of `bolide/meteor-client`, for Tracker, Blaze and Vue. */
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import { createMeteorHelpers } from 'bolide/meteor-client';

/** For `createMeteorData` of `bolide/react`, which only apps with React import. */
export const meteorPackages = { Meteor, Mongo, Tracker };

export const { trackRun, trackDelta, trackToolCalls, callMethod } = createMeteorHelpers(meteorPackages);
