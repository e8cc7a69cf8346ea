/** `meteor/bolide:bolide/react`: the dashboard's data and the hooks of `bolide/react`. */
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { Tracker } from 'meteor/tracker';
import { createMeteorData, createMeteorHooks } from 'bolide/react';

const packages = { Meteor, Mongo, Tracker };

/** For `<Dashboard data={dashboardData} />`. */
export const dashboardData = createMeteorData(packages);

export const { useRun, useDelta, useToolCalls, useTracked } = createMeteorHooks(packages);
