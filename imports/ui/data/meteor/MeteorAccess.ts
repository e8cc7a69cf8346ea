/** Who is signed in, as Meteor's accounts tell it. */
import { Meteor } from 'meteor/meteor';
import type { Access } from '../DashboardData';

/** Reactive where it is read. */
export function readAccess(): Access {
  if (Meteor.loggingIn()) return { state: 'asking' };
  if (Meteor.userId() === null) return { state: 'signedOut', means: 'password' };
  // Who has just come in is known by id before their own document is here; the published types leave that out.
  const user = Meteor.user() as ReturnType<typeof Meteor.user> | undefined;
  const name = user?.username ?? user?.emails?.[0]?.address;
  return { state: 'signedIn', ...(name === undefined ? {} : { name }) };
}
