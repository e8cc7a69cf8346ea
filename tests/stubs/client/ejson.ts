/** EJSON is the same on both sides. */
export { EJSON } from '../meteor/ejson';
