/** Meteor's Mongo namespace, with its types. */
export * as Mongo from '../server/mongoNamespace';
