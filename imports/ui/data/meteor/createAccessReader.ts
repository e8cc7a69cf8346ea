/** Who is signed in, according to Meteor's accounts. */
import type { Access } from '../DashboardData';
import type { BrowserMeteor } from './BrowserPackages';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

type AccountsState = Pick<BrowserMeteor, 'loggingIn' | 'userId' | 'user'>;

/** @returns a function that is reactive inside a Tracker computation */
export function createAccessReader(Meteor: AccountsState): () => Access {
  // At the start, Meteor resumes the session of a stored token. Later sign-ins are the form's, which shows them itself
  // and must stay on the page to show their errors.
  let isResuming = true;
  return () => {
    isResuming &&= Meteor.loggingIn();
    if (isResuming) return CHECKING;
    if (Meteor.userId() === null) return SIGNED_OUT;
    // Right after sign-in the id is known before the user document arrives.
    const user = Meteor.user();
    const name = user?.username ?? user?.emails?.[0]?.address;
    return omitUndefined({ state: 'signedIn', name });
  };
}

const CHECKING: Access = { state: 'checking' };
const SIGNED_OUT: Access = { state: 'signedOut', method: 'password' };
