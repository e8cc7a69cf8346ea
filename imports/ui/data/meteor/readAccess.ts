/** Who is signed in, according to Meteor's accounts. */
import { Meteor } from 'meteor/meteor';
import type { Access } from '../DashboardData';

/** Reactive inside a Tracker computation. */
export function readAccess(): Access {
  if (Meteor.loggingIn()) return { state: 'checking' };
  if (Meteor.userId() === null) return { state: 'signedOut', method: 'password' };
  // Right after sign-in the id is known before the user document arrives, which the published types leave out.
  const user = Meteor.user() as ReturnType<typeof Meteor.user> | undefined;
  const name = user?.username ?? user?.emails?.[0]?.address;
  return { state: 'signedIn', ...(name === undefined ? {} : { name }) };
}
