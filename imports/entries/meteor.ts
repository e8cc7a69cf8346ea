/** `bolide/meteor`: Bolide in a Meteor app, whose objects are handed in. */
export type { Host } from '../startup/createHost';
