import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import { restore, stub } from 'sinon';
import { readAccess } from '../../../../../imports/ui/data/meteor/readAccess';

describe('readAccess', () => {
  afterEach(() => restore());

  const meteor = (isLoggingIn: boolean, userId: string | null, user: unknown): void => {
    stub(Meteor, 'loggingIn').returns(isLoggingIn);
    stub(Meteor, 'userId').returns(userId);
    stub(Meteor, 'user').returns(user as ReturnType<typeof Meteor.user>);
  };

  it('asks for a password when no user is signed in, and waits while a sign-in is in progress', () => {
    meteor(false, null, null);
    expect(readAccess()).to.deep.equal({ state: 'signedOut', method: 'password' });
    restore();
    meteor(true, null, null);
    expect(readAccess()).to.deep.equal({ state: 'checking' });
  });

  it('names users by username, or else by email address', () => {
    meteor(false, 'u1', { _id: 'u1', username: 'ann', emails: [{ address: 'ann@example.com', verified: true }] });
    expect(readAccess()).to.deep.equal({ state: 'signedIn', name: 'ann' });
    restore();
    meteor(false, 'u1', { _id: 'u1', emails: [{ address: 'ann@example.com', verified: true }] });
    expect(readAccess()).to.deep.equal({ state: 'signedIn', name: 'ann@example.com' });
  });

  it('accepts a user whose document has not arrived yet, for which Meteor returns undefined', () => {
    meteor(false, 'u1', undefined);
    expect(readAccess()).to.deep.equal({ state: 'signedIn' });
  });
});
