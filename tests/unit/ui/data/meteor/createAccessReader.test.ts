import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import { restore, stub } from 'sinon';
import { createAccessReader } from '../../../../../imports/ui/data/meteor/createAccessReader';

describe('createAccessReader', () => {
  afterEach(() => restore());

  const meteor = (isLoggingIn: boolean, userId: string | null, user: unknown): void => {
    restore();
    stub(Meteor, 'loggingIn').returns(isLoggingIn);
    stub(Meteor, 'userId').returns(userId);
    stub(Meteor, 'user').returns(user as ReturnType<typeof Meteor.user>);
  };

  it('asks for a password when no user is signed in', () => {
    meteor(false, null, null);
    expect(createAccessReader(Meteor)()).to.deep.equal({ state: 'signedOut', method: 'password' });
  });

  it('waits only while a stored login is resumed, so that later sign-ins leave the form where it is', () => {
    const read = createAccessReader(Meteor);
    meteor(true, 'u1', undefined);
    expect(read()).to.deep.equal({ state: 'checking' });
    meteor(false, null, null);
    expect(read()).to.deep.equal({ state: 'signedOut', method: 'password' });
    meteor(true, null, null);
    expect(read()).to.deep.equal({ state: 'signedOut', method: 'password' });
  });

  it('leaves the pages where they are while the login of a reconnect is in flight', () => {
    const read = createAccessReader(Meteor);
    meteor(false, 'u1', { _id: 'u1', username: 'ann' });
    expect(read()).to.deep.equal({ state: 'signedIn', name: 'ann' });
    meteor(true, 'u1', { _id: 'u1', username: 'ann' });
    expect(read()).to.deep.equal({ state: 'signedIn', name: 'ann' });
  });

  it('names users by username, or else by email address', () => {
    meteor(false, 'u1', { _id: 'u1', username: 'ann', emails: [{ address: 'ann@example.com', verified: true }] });
    expect(createAccessReader(Meteor)()).to.deep.equal({ state: 'signedIn', name: 'ann' });
    meteor(false, 'u1', { _id: 'u1', emails: [{ address: 'ann@example.com', verified: true }] });
    expect(createAccessReader(Meteor)()).to.deep.equal({ state: 'signedIn', name: 'ann@example.com' });
  });

  it('accepts a user whose document has not arrived yet, for which Meteor returns undefined', () => {
    meteor(false, 'u1', undefined);
    expect(createAccessReader(Meteor)()).to.deep.equal({ state: 'signedIn' });
  });
});
