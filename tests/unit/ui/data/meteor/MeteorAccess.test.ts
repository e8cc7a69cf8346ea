import { expect } from 'chai';
import { Meteor } from 'meteor/meteor';
import { restore, stub } from 'sinon';
import { readAccess } from '../../../../../imports/ui/data/meteor/MeteorAccess';

describe('readAccess', () => {
  afterEach(() => restore());

  const meteor = (isLoggingIn: boolean, userId: string | null, user: unknown): void => {
    stub(Meteor, 'loggingIn').returns(isLoggingIn);
    stub(Meteor, 'userId').returns(userId);
    stub(Meteor, 'user').returns(user as ReturnType<typeof Meteor.user>);
  };

  it('asks for a password where nobody is signed in, and waits while somebody is on the way', () => {
    meteor(false, null, null);
    expect(readAccess()).to.deep.equal({ state: 'signedOut', means: 'password' });
    restore();
    meteor(true, null, null);
    expect(readAccess()).to.deep.equal({ state: 'asking' });
  });

  it('names people by user name, else by address', () => {
    meteor(false, 'u1', { _id: 'u1', username: 'ann', emails: [{ address: 'ann@example.com', verified: true }] });
    expect(readAccess()).to.deep.equal({ state: 'signedIn', name: 'ann' });
    restore();
    meteor(false, 'u1', { _id: 'u1', emails: [{ address: 'ann@example.com', verified: true }] });
    expect(readAccess()).to.deep.equal({ state: 'signedIn', name: 'ann@example.com' });
  });

  it('knows people by id whose own document has not come yet, which Meteor gives as undefined', () => {
    meteor(false, 'u1', undefined);
    expect(readAccess()).to.deep.equal({ state: 'signedIn' });
  });
});
