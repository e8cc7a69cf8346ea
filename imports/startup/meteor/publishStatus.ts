/** Publishes `ai.status` to everyone, signed in or not: it states whether responses are simulated. */
import { check, Match } from 'meteor/check';
import { Meteor } from 'meteor/meteor';

export const STATUS_COLLECTION = 'ai_status';

/** @returns the publication's name */
export function publishStatus(simulationNotice: string | undefined): string {
  Meteor.publish('ai.status', function (argument?: unknown) {
    // There are no options, but an empty object is accepted.
    check(argument, Match.Maybe({}));
    if (simulationNotice !== undefined) this.added(STATUS_COLLECTION, 'status', { simulationNotice });
    this.ready();
    return undefined;
  });
  return 'ai.status';
}
