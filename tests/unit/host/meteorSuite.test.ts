/** Runs the tests written for a real Meteor on the stand-in. */
import { createHash } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { Random } from 'meteor/random';
import { resetWebApp, WebApp } from 'meteor/webapp';
import { serverSuite } from '../../meteor/serverSuite';
import type { Client, SignedIn } from '../../meteor/SignedIn';
import { DdpClient } from '../../stubs/server/DdpClient';
import { MeteorError } from '../../stubs/server/MeteorError';
import { resetMeteor } from '../../stubs/server/registry';
import { describeInSoak } from '../../support/soak';

describeInSoak('on the stand-in', () => {
  const { settings } = Meteor;
  const absoluteUrl = Meteor.absoluteUrl.bind(Meteor);
  before(async () => {
    resetMeteor();
    resetWebApp();
    Meteor.settings = { public: {} };
    await new Promise<void>((resolve) => WebApp.httpServer.listen(0, '127.0.0.1', resolve));
    const { port } = WebApp.httpServer.address() as AddressInfo;
    Meteor.absoluteUrl = (path) => `http://127.0.0.1:${port}/${path ?? ''}`;
  });
  after(() => {
    resetMeteor();
    resetWebApp();
    Object.assign(Meteor, { settings, absoluteUrl });
  });

  serverSuite({ signIn: signInOnStub });
});

/** accounts-password as the stub has it, and a login token in the format that accounts-base stores. */
async function signInOnStub(email: string, password: string): Promise<SignedIn> {
  const user = await Meteor.users.findOneAsync({
    'emails.address': email,
    'services.password.hash': createHash('sha256').update(password).digest('hex'),
  });
  if (user === undefined) throw new MeteorError(403, 'Incorrect password');
  const loginToken = Random.id();
  const entry = { hashedToken: Accounts._hashLoginToken(loginToken), when: new Date() };
  await Meteor.users.updateAsync(user._id, { $push: { 'services.resume.loginTokens': entry } });
  return { client: connectTo(new DdpClient({ userId: user._id })), userId: user._id, loginToken };
}

function connectTo(ddp: DdpClient): Client {
  return {
    callAsync: (method, ...args) => ddp.callAsync(method, ...args),
    subscribe: (name, ...args) => ddp.subscribe(name, ...args).ready,
    async waitFor(collection, matches) {
      for (;;) {
        // The caller states the type of the collection's documents.
        const found = ddp.documents(collection).find((document) => matches(document as never));
        if (found !== undefined) return found as never;
        await new Promise(setImmediate);
      }
    },
    close: () => ddp.close(),
  };
}
