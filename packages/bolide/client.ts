/** `meteor/bolide:bolide` in browsers: the reactive helpers of `bolide/meteor-client`, for Tracker, Blaze and Vue. */
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import { createMeteorHelpers } from 'bolide/meteor-client';

export const { trackRun, trackDelta, trackToolCalls, callMethod } = createMeteorHelpers({ Meteor, Mongo, Tracker });
