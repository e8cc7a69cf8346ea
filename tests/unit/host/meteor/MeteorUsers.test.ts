/** Meteor's accounts as the HTTP API sees them, on the host and its real server. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { Meteor } from 'meteor/meteor';
import { WebApp } from 'meteor/webapp';
import WebSocket from 'ws';
import { MeteorUsers } from '../../../../imports/host/meteor/MeteorUsers';
import { resetMeteor } from '../../../stubs/server/registry';
import { failure } from '../../../support/failure';
import { startMeteorApp } from '../../../support/meteorApp';
import type { MeteorApp } from '../../../support/meteorApp';
import { METEOR_PACKAGES } from '../../../meteor/meteorPackages';

describe('MeteorUsers', () => {
  describe('a login token over HTTP', () => {
    let app: MeteorApp;
    let address: string;

    before(async () => {
      app = await startMeteorApp();
      const loginTokens = [{ hashedToken: Accounts._hashLoginToken('bob-login'), when: new Date() }];
      await Meteor.users.updateAsync('bob', { $set: { services: { resume: { loginTokens } } } });
      WebApp.httpServer.listen(0, '127.0.0.1');
      await once(WebApp.httpServer, 'listening');
      address = `127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
    });
    after(() => app.stop());

    const PLACES: readonly (readonly [place: string, path: string, headers: Readonly<Record<string, string>>])[] = [
      ['Authorization: Bearer', '/v1/models', { authorization: 'Bearer bob-login' }],
      ['x-api-key', '/v1/models', { 'x-api-key': 'bob-login' }],
      ['x-goog-api-key', '/v1beta/models', { 'x-goog-api-key': 'bob-login' }],
      ['?key= below /v1beta/', '/v1beta/models?key=bob-login', {}],
    ];
    for (const [place, path, headers] of PLACES)
      it(`is accepted in ${place}`, async () => {
        expect((await fetch(`http://${address}${path}`, { headers })).status).to.equal(200);
      });

    it('is not accepted in the query of other paths', async () => {
      expect((await fetch(`http://${address}/v1/models?key=bob-login`)).status).to.equal(401);
    });

    it('is accepted for a WebSocket, in any of the headers', async () => {
      for (const name of ['authorization', 'x-api-key']) {
        const value = name === 'authorization' ? 'Bearer bob-login' : 'bob-login';
        const socket = new WebSocket(`ws://${address}/v1/responses`, { headers: { [name]: value } });
        await once(socket, 'open');
        socket.terminate();
      }
    });
  });

  describe('a login token, with the package accounts-express', () => {
    beforeEach(() => resetMeteor());
    afterEach(() => {
      delete (globalThis as { Package?: unknown }).Package;
      resetMeteor();
    });

    /** Asks what Meteor 3.5 asks, and of nothing but the header. */
    const install = (users: Readonly<Record<string, string>>, error?: Error): void => {
      const createAuthMiddleware =
        () =>
        async (
          request: { headers: Record<string, string>; userId?: string | null },
          _response: object,
          next: (error?: Error) => void,
        ): Promise<void> => {
          await Promise.resolve();
          if (Object.keys(request.headers).join() !== 'authorization') throw new Error('Only a token is expected.');
          request.userId = users[request.headers['authorization']?.slice('Bearer '.length) ?? ''] ?? null;
          next(error);
        };
      Object.assign(globalThis, { Package: { 'accounts-express': { createAuthMiddleware } } });
    };
    const authenticate = (headers: Readonly<Record<string, string>>): ReturnType<MeteorUsers['authenticate']> =>
      new MeteorUsers({ ...METEOR_PACKAGES, admins: ['eve'] }).authenticate({ headers, url: '/' } as never);

    it('is that of the user whom the package finds', async () => {
      for (const _id of ['bob', 'eve']) await Meteor.users.insertAsync({ _id });
      install({ 'bob-login': 'bob', 'eve-login': 'eve', 'old-login': 'gone' });
      expect(await authenticate({ 'x-api-key': 'bob-login', cookie: 'meteor_login_token=eve-login' })).to.deep.equal({
        userId: 'bob',
      });
      expect(await authenticate({ authorization: 'Bearer eve-login' })).to.deep.equal({
        userId: 'eve',
        scopes: ['admin'],
      });
      for (const token of ['none', 'old-login'])
        expect(await authenticate({ authorization: `Bearer ${token}` }), token).to.equal(undefined);
    });

    it('fails with the error of the package', async () => {
      install({}, new Error('The database is away.'));
      expect(String(await failure(authenticate({ authorization: 'Bearer x' })))).to.include('The database is away.');
    });
  });

  describe('findUser', () => {
    beforeEach(() => resetMeteor());
    afterEach(() => resetMeteor());

    const NAMES: readonly (readonly [user: object, name: string | undefined])[] = [
      [{ username: 'ada', emails: [{ address: 'ada@x.org', verified: true }], profile: { name: 'Eve' } }, 'ada'],
      [{ emails: [{ address: 'ada@x.org', verified: true }], profile: { name: 'Eve' } }, 'ada@x.org'],
      [{ emails: [{ address: 'eve@x.org', verified: false }], profile: { name: 'Ada' } }, 'Ada (u)'],
      [{ emails: [{ address: 'eve@x.org', verified: false }] }, undefined],
      [{ profile: { name: { $gt: '' } } }, undefined],
    ];
    for (const [user, name] of NAMES)
      it(`names ${JSON.stringify(user)} ${name ?? 'by id only'}`, async () => {
        await Meteor.users.insertAsync({ _id: 'u', ...user });
        expect((await new MeteorUsers({ ...METEOR_PACKAGES, admins: [] }).findUser('u'))?.name).to.equal(name);
      });

    it('is not asked for each of many names, and an address that is not verified is called so', async () => {
      const addressOf = (address: string, verified: boolean) => ({ emails: [{ address, verified }] });
      await Meteor.users.insertAsync({ _id: 'a', ...addressOf('Ada@x.org', true) });
      await Meteor.users.insertAsync({ _id: 'e', ...addressOf('eve@x.org', false) });
      await Meteor.users.insertAsync({ _id: 'n' });
      await Meteor.users.insertAsync({ _id: 'other', username: 'other' });
      const queries: unknown[] = [];
      const find = (selector: object, options: object) => {
        queries.push(options);
        return Meteor.users.find(selector, options);
      };
      const users = new MeteorUsers({ ...METEOR_PACKAGES, Meteor: { users: { find } } as never, admins: [] });
      const names = await users.findNames(['a', 'e', 'n', 'gone']);
      expect([...names]).to.have.deep.members([
        ['a', 'ada@x.org'],
        ['e', 'eve@x.org (not verified)'],
      ]);
      expect(queries).to.deep.equal([{ fields: { username: 1, emails: 1, 'profile.name': 1 } }]);
    });

    it('is found by how a name or an address starts, with the indexes that accounts have', async () => {
      const emails = ['bob@x.org', 'adab@x.org'].map((address) => ({ address, verified: false }));
      await Meteor.users.insertAsync({ _id: 'a', username: 'Ada.L' });
      await Meteor.users.insertAsync({ _id: 'b', emails });
      await Meteor.users.insertAsync({ _id: 'c', username: 'xada' });
      await Meteor.users.insertAsync({ _id: 'd', username: 'adxl' });
      const selectors: { readonly $or: readonly { readonly $and: readonly object[] }[] }[] = [];
      const find = (selector: object, options: object) => {
        selectors.push(selector as (typeof selectors)[number]);
        return Meteor.users.find(selector, options);
      };
      const users = new MeteorUsers({ ...METEOR_PACKAGES, Meteor: { users: { find } } as never, admins: [] });
      expect(await users.searchUsers('aDa')).to.have.members(['a', 'b']);
      expect(await users.searchUsers('ada.')).to.deep.equal(['a']);
      expect(await users.searchUsers('BOB@X.ORG')).to.deep.equal(['b']);
      // Case-sensitive and anchored: what an index serves.
      for (const { $and } of selectors.flatMap(({ $or }) => $or))
        expect(JSON.stringify($and[0])).to.match(/^{"(username|emails.address)":{"\$regex":"\^[^"]+"}}$/);
    });
  });
});
