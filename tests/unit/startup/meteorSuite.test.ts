/** Runs the tests written for a real Meteor on the stand-in. */
import type { AddressInfo } from 'node:net';
import { Meteor } from 'meteor/meteor';
import { resetWebApp, WebApp } from 'meteor/webapp';
import { serverSuite } from '../../meteor/serverSuite';
import { resetMeteor } from '../../stubs/server/registry';

describe('on the stand-in', () => {
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

  serverSuite();
});
