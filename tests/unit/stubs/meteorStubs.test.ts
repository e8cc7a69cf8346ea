/** The stubs of Meteor's packages are as strict as Meteor: every behaviour here is one of the real server. */
import { expect } from 'chai';
import { AsyncResource } from 'node:async_hooks';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { Accounts } from '../../stubs/meteor/accounts-base';
import { check, Match } from '../../stubs/meteor/check';
import type { Pattern } from '../../stubs/meteor/check';
import { DDPRateLimiter } from '../../stubs/meteor/ddp-rate-limiter';
import { EJSON, overWire } from '../../stubs/meteor/ejson';
import { Meteor } from '../../stubs/meteor/meteor';
import { Mongo } from '../../stubs/meteor/mongo';
import { Random } from '../../stubs/meteor/random';
import { Tracker } from '../../stubs/meteor/tracker';
import { resetWebApp, WebApp } from '../../stubs/meteor/webapp';
import { DdpClient } from '../../stubs/server/DdpClient';
import { flushObservers, openObservers } from '../../stubs/server/observers';
import { registry, resetMeteor } from '../../stubs/server/registry';
import { deferred } from '../../support/deferred';
import { failure } from '../../support/failure';

interface Task {
  readonly _id: string;
  readonly title?: string | undefined;
  readonly done?: boolean;
  readonly owner?: string;
}

describe('Meteor stubs', () => {
  beforeEach(resetMeteor);
  after(resetMeteor);

  describe('EJSON', () => {
    it('copies deeply, and preserves undefined fields until they are encoded', () => {
      const value = { at: new Date(5), list: [1, undefined, { u: undefined }], n: NaN, bytes: Uint8Array.of(1, 2) };
      const copy = EJSON.clone(value);
      expect(copy).to.deep.equal(value);
      expect(copy.at).to.not.equal(value.at);
      expect(Object.keys(copy.list[2] as object)).to.deep.equal(['u']);
      expect(overWire(value)).to.deep.equal({
        at: new Date(5),
        list: [1, null, {}],
        n: NaN,
        bytes: Uint8Array.of(1, 2),
      });
    });

    it('rejects functions, class instances and circular references', () => {
      const circle: { self?: unknown } = {};
      circle.self = circle;
      for (const value of [
        () => 1,
        { run: () => 1 },
        [new Map()],
        new Error('x'),
        circle,
        { s: Symbol('s') },
        { n: 1n },
      ])
        expect(() => EJSON.clone(value)).to.throw(TypeError);
    });

    it('does not mistake data for its own encodings', () => {
      for (const value of [
        { $date: 5 },
        { $escape: { $date: 1 } },
        { a: { $binary: 'AA' } },
        { $type: 'x', $value: 1 },
      ])
        expect(overWire(value)).to.deep.equal(value);
    });
  });

  describe('check', () => {
    const matching: readonly (readonly [unknown, Pattern])[] = [
      ['x', String],
      [1.5, Number],
      [5, Match.Integer],
      [new Date(), Date],
      [[1, 2], [Number]],
      [{ a: 1 }, { a: Number, b: Match.Maybe(String), c: Match.Optional(String) }],
      [null, Match.Maybe(String)],
      [undefined, Match.Optional(String)],
      [{ a: 1, b: 2 }, Match.ObjectIncluding({ a: Number })],
      [{ a: 1, b: 2 }, Object],
      [{ a: 1, b: 2 }, Match.ObjectWithValues(Number)],
      ['b', Match.OneOf('a', 'b')],
      [4, Match.Where((n) => (n as number) % 2 === 0)],
      [{ deep: [{ any: () => 1 }] }, Match.Any],
    ];
    const failing: readonly (readonly [unknown, Pattern, string])[] = [
      [1, String, ''],
      [new String('x'), String, ''],
      [1.5, Match.Integer, ''],
      [2 ** 31, Match.Integer, ''],
      [[1, 'x'], [Number], '[1]'],
      [{ a: 1, extra: 1 }, { a: Number }, 'extra'],
      [{}, { a: Number }, ''],
      [{ a: { b: [1, null] } }, { a: { b: [Number] } }, 'a.b[1]'],
      [{ b: null }, { b: Match.Maybe(String) }, 'b'],
      [{ c: undefined }, { c: Match.Optional(String) }, 'c'],
      [null, Match.Optional(String), ''],
      [new Date(), Object, ''],
      [[], Object, ''],
      [null, Object, ''],
      ['c', Match.OneOf('a', 'b'), ''],
      [{ a: 'x' }, Match.ObjectWithValues(Number), 'a'],
      [3, Match.Where((n) => (n as number) % 2 === 0), ''],
    ];
    it('accepts values that match a pattern', () => {
      for (const [value, pattern] of matching) expect(Match.test(value, pattern), JSON.stringify(value)).to.equal(true);
    });
    it('throws Match.Error with the path of a mismatch', () => {
      for (const [value, pattern, path] of failing)
        expect(() => check(value, pattern), JSON.stringify(value))
          .to.throw(Match.Error)
          .and.to.have.property('path', path);
    });
  });

  describe('methods', () => {
    it('must exist to be called, and have unique names', async () => {
      Meteor.methods({ one: () => 1 });
      expect(() => Meteor.methods({ one: () => 2 })).to.throw('already defined');
      expect(await failure(Meteor.callAsync('two'))).to.include({ error: 404 });
    });

    it('fail if an argument is not checked before their first await', async () => {
      Meteor.methods({
        none: () => 1,
        unchecked(a: unknown, b: unknown) {
          check(a, Match.Any);
          return b;
        },
        async late(a: unknown) {
          await Promise.resolve();
          check(a, String);
        },
        async early(a: string, b: string) {
          check(a, String);
          check([b], [String]);
          await Promise.resolve();
          return a + b;
        },
      });
      expect(await Meteor.callAsync('none')).to.equal(1);
      expect(await Meteor.callAsync('early', 'x', 'y')).to.equal('xy');
      for (const [name, ...args] of [
        ['none', 1],
        ['unchecked', 1, 2],
        ['late', 'x'],
      ] as const) {
        expect(await failure(Meteor.callAsync(name, ...args)), name).to.match(
          /Did not check\(\) all arguments during internal call to/,
        );
      }
    });

    it('receive and return copies', async () => {
      const values: { list: number[] }[] = [];
      Meteor.methods({
        keep(value: { list: number[] }) {
          check(value, Match.Any);
          values.push(value);
          return value;
        },
        functions: () => ({ run: () => 1 }),
      });
      const sent = { list: [1] };
      const result = (await Meteor.callAsync('keep', sent)) as typeof sent;
      sent.list.push(2);
      result.list.push(3);
      expect(values).to.deep.equal([{ list: [1] }]);
      expect(await failure(Meteor.callAsync('functions'))).to.be.instanceOf(TypeError);
    });

    it('have their user and connection, also in a nested call, and neither in a call from the server', async () => {
      Meteor.methods({
        who() {
          return { method: this.userId, meteor: Meteor.userId(), connection: this.connection?.id ?? null };
        },
        outer: () => Meteor.callAsync('who'),
      });
      const client = new DdpClient({ userId: 'u' });
      const expected = { method: 'u', meteor: 'u', connection: client.connection.id };
      expect(await client.callAsync('who')).to.deep.equal(expected);
      expect(await client.callAsync('outer')).to.deep.equal(expected);
      expect(await Meteor.callAsync('who')).to.deep.equal({ method: null, meteor: null, connection: null });
      expect(() => Meteor.userId()).to.throw('only be invoked in method calls');
      client.close();
    });

    it('send clients only sanitized errors', async () => {
      Meteor.methods({
        meant: () => {
          throw new Meteor.Error('conflict', 'taken', { by: 'x' });
        },
        internal: () => {
          throw new Error('password is hunter2');
        },
        checks: (a: unknown) => check(a, String),
      });
      const client = new DdpClient();
      expect(await failure(client.callAsync('meant')))
        .to.include({ error: 'conflict', reason: 'taken' })
        .and.have.deep.property('details', { by: 'x' });
      expect(await failure(client.callAsync('internal'))).to.include({ error: 500, reason: 'Internal server error' });
      expect(await failure(client.callAsync('checks', 5))).to.include({ error: 400, reason: 'Match failed' });
      expect(registry.log.map(({ error }) => (error as Error).message)).to.deep.equal([
        'password is hunter2',
        'Match error: Expected string, got number',
      ]);
      expect(JSON.stringify(client.messages)).to.not.include('hunter2');
      client.close();
    });

    it('of one client run in order, unless they unblock', async () => {
      let gate = deferred();
      const order: string[] = [];
      Meteor.methods({
        async slow(unblocks: boolean) {
          check(unblocks, Boolean);
          if (unblocks) this.unblock();
          order.push('slow begins');
          await gate.promise;
          order.push('slow ends');
        },
        quick: () => void order.push('quick'),
      });
      const client = new DdpClient();
      const other = new DdpClient();
      const slow = client.callAsync('slow', false);
      const quick = client.callAsync('quick');
      await other.callAsync('quick');
      expect(order).to.deep.equal(['slow begins', 'quick']);
      gate.resolve();
      await Promise.all([slow, quick]);
      expect(order).to.deep.equal(['slow begins', 'quick', 'slow ends', 'quick']);
      gate = deferred();
      const unblocked = client.callAsync('slow', true);
      await client.callAsync('quick');
      expect(order.slice(4)).to.deep.equal(['slow begins', 'quick']);
      gate.resolve();
      await unblocked;
      client.close();
      other.close();
    });
  });

  describe('collections', () => {
    it('have unique names and only async methods', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      expect(() => new Mongo.Collection('tasks')).to.throw('already a collection named "tasks"');
      for (const use of [
        () => tasks.insert({}),
        () => tasks.findOne(),
        () => tasks.update({}, {}),
        () => tasks.remove({}),
        () => tasks.find().fetch(),
        () => tasks.find().count(),
        () => tasks.rawCollection().aggregate([{ $out: 'tasks' }]),
      ]) {
        expect(use).to.throw(/not available on the server|must not be used/);
      }
      expect(await tasks.find().fetchAsync()).to.deep.equal([]);
    });

    it('generate ids, reject ids that are not strings, and drop undefined fields', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      const id = await tasks.insertAsync({ title: undefined, done: true });
      expect(id).to.match(/^[23456789A-HJ-NP-TW-Za-km-z]{17}$/);
      expect(await tasks.findOneAsync(id)).to.deep.equal({ _id: id, done: true });
      expect(await failure(tasks.insertAsync({ _id: '' }))).to.match(/non-empty strings/);
      expect(await failure(tasks.insertAsync({ _id: id }))).to.include({ name: 'MongoServerError', code: 11000 });
      expect(await failure(tasks.insertAsync({ run: () => 1 } as object))).to.be.instanceOf(TypeError);
    });

    it('drop undefined conditions, and find nothing by a falsy _id', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      await tasks.insertAsync({ _id: 'a', owner: 'u' });
      expect(await tasks.find({ owner: undefined }).countAsync()).to.equal(1);
      expect(await tasks.find({ _id: undefined }).countAsync()).to.equal(0);
      expect(await tasks.find(undefined).countAsync()).to.equal(0);
      expect(await tasks.removeAsync({ _id: null })).to.equal(0);
      expect(await tasks.findOneAsync({ _id: 'b' })).to.equal(undefined);
    });

    it('preserve the message but not the code of an error of createIndexAsync', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      await tasks.insertAsync({ _id: 'a', owner: 'u' });
      await tasks.insertAsync({ _id: 'b', owner: 'u' });
      const error = await failure(tasks.createIndexAsync({ owner: 1 }, { unique: true }));
      expect(error).to.be.instanceOf(Meteor.Error).and.to.not.have.property('code');
      expect((error as Error).message).to.include('E11000');
    });

    it('respond in a later turn of the event loop', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      let isDone = false;
      const insert = tasks.insertAsync({ _id: 'a' }).then(() => (isDone = true));
      for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
      expect(isDone).to.equal(false);
      await insert;
    });

    it('notify observers of differences, and of quick changes only once', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      await tasks.insertAsync({ _id: 'a', title: 'x', done: false });
      const seen: unknown[] = [];
      const handle = await tasks.find({ done: false }, { fields: { title: 1 } }).observeAsync({
        added: (task) => seen.push(['added', task]),
        changed: (now, before) => seen.push(['changed', now, before]),
        removed: (task) => seen.push(['removed', task]),
      });
      await Promise.all([
        tasks.updateAsync('a', { $set: { title: 'y' } }),
        tasks.updateAsync('a', { $set: { title: 'z', owner: 'u' } }),
      ]);
      flushObservers();
      await tasks.updateAsync('a', { $set: { owner: 'v' } });
      flushObservers();
      await tasks.updateAsync('a', { $set: { done: true } });
      flushObservers();
      handle.stop();
      await tasks.removeAsync('a');
      flushObservers();
      expect(seen).to.deep.equal([
        ['added', { _id: 'a', title: 'x' }],
        ['changed', { _id: 'a', title: 'z' }, { _id: 'a', title: 'x' }],
        ['removed', { _id: 'a', title: 'z' }],
      ]);
    });
  });

  describe('write fences', () => {
    const client = (): DdpClient => new DdpClient({ userId: 'ann' });
    const replies = ({ messages }: DdpClient): readonly unknown[] => messages.map(({ msg }) => msg);

    it('send `updated` before `result` if the method wrote nothing', async () => {
      Meteor.methods({ idle: () => 'done' });
      const ann = client();
      expect(await ann.callAsync('idle')).to.equal('done');
      expect(replies(ann)).to.deep.equal(['updated', 'result']);
    });

    it('send `updated` for methods that fail or do not exist', async () => {
      const ann = client();
      Meteor.methods({
        fail: () => {
          throw new Meteor.Error('no');
        },
      });
      for (const method of ['fail', 'unknown']) expect(await failure(ann.callAsync(method))).to.be.an('error');
      expect(replies(ann).filter((msg) => msg === 'updated')).to.have.length(2);
    });

    it('wait for writes that the method does not await, and for those that follow from them', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      Meteor.methods({
        start: () => {
          void tasks.insertAsync({ _id: 'a' }).then(() => tasks.updateAsync('a', { $set: { done: true } }));
        },
      });
      Meteor.publish('tasks', () => tasks.find());
      const ann = client();
      await ann.subscribe('tasks').ready;
      await ann.callAsync('start');
      expect(ann.documents('tasks')).to.deep.equal([{ _id: 'a', done: true }]);
      const since = replies(ann).filter((msg) => msg !== 'ready');
      expect(since[0]).to.equal('result');
      expect(since.at(-1)).to.equal('updated');
      expect(registry.fences.map(({ writes }) => writes)).to.deep.equal([['insert tasks', 'update tasks']]);
    });

    it('let writes pass that come after `updated`', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      const gate = deferred();
      let late: Promise<unknown> | undefined;
      Meteor.methods({
        later: () => {
          late = gate.promise.then(() => tasks.insertAsync({ _id: 'a' }));
        },
      });
      await client().callAsync('later');
      gate.resolve();
      await late;
      expect(registry.fences.map(({ writes, lateWrites }) => ({ writes, lateWrites }))).to.deep.equal([
        { writes: [], lateWrites: ['insert tasks'] },
      ]);
    });

    it('leave out writes of other contexts', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      const outside = AsyncResource.bind(() => tasks.insertAsync({ _id: 'a' }));
      Meteor.methods({ start: () => outside() });
      await client().callAsync('start');
      expect(registry.fences.map(({ writes }) => writes)).to.deep.equal([[]]);
    });
  });

  describe('observers', () => {
    it('are shared by equal queries only', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      const open = (): readonly (readonly [unknown, number])[] =>
        openObservers(registry.collections.get('tasks')!).map(({ selector, handles }) => [selector, handles]);
      const observe = (selector: object) => tasks.find(selector, { sort: { title: 1 } }).observeChangesAsync({});
      const handles = [await observe({ owner: 'a' }), await observe({ owner: 'a' }), await observe({ owner: 'b' })];
      expect(open()).to.deep.equal([
        [{ owner: 'a' }, 2],
        [{ owner: 'b' }, 1],
      ]);
      for (const handle of handles) handle.stop();
      expect(open()).to.deep.equal([]);
    });

    it('of one id are not notified of writes to other ids', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      await tasks.insertAsync({ _id: 'a', owner: 'u' });
      await tasks.insertAsync({ _id: 'b', owner: 'u' });
      await tasks.find({ _id: 'a' }).observeChangesAsync({});
      await tasks.updateAsync({ _id: 'b' }, { $set: { done: true } });
      const notifications = (): readonly number[] =>
        openObservers(registry.collections.get('tasks')!).map((each) => each.notifications);
      expect(notifications()).to.deep.equal([0]);
      await tasks.updateAsync({ owner: 'u' }, { $set: { done: false } }, { multi: true });
      expect(notifications()).to.deep.equal([1]);
    });
  });

  describe('publications', () => {
    it('of a cursor send its documents, ready, and every change, including removed fields', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      await tasks.insertAsync({ _id: 'a', title: 'x', owner: 'u' });
      await tasks.insertAsync({ _id: 'b', title: 'y', owner: 'v' });
      Meteor.publish('mine', function () {
        return tasks.find({ owner: this.userId }, { fields: { title: 1 } });
      });
      const client = new DdpClient({ userId: 'u' });
      const subscription = client.subscribe('mine');
      await subscription.ready;
      expect(client.documents('tasks')).to.deep.equal([{ _id: 'a', title: 'x' }]);
      await tasks.updateAsync('a', { $unset: { title: true } });
      flushObservers();
      expect(client.documents('tasks')).to.deep.equal([{ _id: 'a' }]);
      subscription.stop();
      await subscription.ended;
      expect(client.documents('tasks')).to.deep.equal([]);
      expect(client.messages.map(({ msg }) => msg)).to.deep.equal(['added', 'ready', 'changed', 'removed', 'nosub']);
      client.close();
    });

    it('with manual messages may only change their own documents', async () => {
      const stopped: string[] = [];
      Meteor.publish('hand', function () {
        this.onStop(() => stopped.push('stopped'));
        this.added('things', 'a', { n: 1, m: 1 });
        this.changed('things', 'a', { n: 2, m: undefined });
        expect(() => this.changed('things', 'b', {})).to.throw('Could not find element');
        expect(() => this.removed('things', 'b')).to.throw('nonexistent');
        this.ready();
        this.added('things', 'c', {});
        this.removed('things', 'c');
      });
      const client = new DdpClient();
      const subscription = client.subscribe('hand');
      await subscription.ready;
      expect(client.documents('things')).to.deep.equal([{ _id: 'a', n: 2 }]);
      subscription.stop();
      await subscription.ended;
      expect(stopped).to.deep.equal(['stopped']);
      client.close();
    });

    it('merge the fields of a document from two subscriptions', async () => {
      Meteor.publish('one', function () {
        this.added('things', 'a', { x: 1, y: 1 });
        this.ready();
      });
      Meteor.publish('two', function () {
        this.added('things', 'a', { y: 2, z: 2 });
        this.ready();
      });
      const client = new DdpClient();
      const one = client.subscribe('one');
      await one.ready;
      await client.subscribe('two').ready;
      expect(client.documents('things')).to.deep.equal([{ _id: 'a', x: 1, y: 1, z: 2 }]);
      one.stop();
      await one.ended;
      expect(client.documents('things')).to.deep.equal([{ _id: 'a', y: 2, z: 2 }]);
      client.close();
    });

    it('that fail, check too late or return an invalid value end with an error', async () => {
      const tasks = new Mongo.Collection<Task>('tasks');
      Meteor.publish('refused', () => {
        throw new Meteor.Error('permission-denied', 'not yours');
      });
      Meteor.publish('broken', async () => {
        await Promise.resolve();
        throw new Error('hunter2');
      });
      Meteor.publish('unchecked', () => tasks.find());
      Meteor.publish('document', () => ({ _id: 'a' }));
      Meteor.publish('twice', () => [tasks.find(), tasks.find({ done: true })]);
      const client = new DdpClient();
      expect(await failure(client.subscribe('refused').ready)).to.include({ error: 'permission-denied' });
      for (const name of ['broken', 'document', 'twice'])
        expect(await failure(client.subscribe(name).ready), name).to.include({ error: 500 });
      expect(await failure(client.subscribe('unchecked', 1).ready)).to.include({ error: 500 });
      expect(await failure(client.subscribe('nothing').ready)).to.include({ error: 404 });
      expect(() => Meteor.publish('broken', () => undefined)).to.throw('duplicate');
      client.close();
    });

    it('restart when the user changes', async () => {
      Meteor.publish('me', function () {
        this.added('me', this.userId ?? 'nobody', {});
        this.ready();
      });
      Meteor.methods({
        async become(id: string) {
          check(id, String);
          await this.setUserId(id);
        },
      });
      const client = new DdpClient();
      await client.subscribe('me').ready;
      await client.callAsync('become', 'u');
      expect(client.documents('me')).to.deep.equal([{ _id: 'u' }]);
      expect(await failure(Meteor.callAsync('become', 'u'))).to.match(/server initiated/);
      client.close();
    });

    it('end with their connection', async () => {
      const ended: string[] = [];
      Meteor.publish('open', function () {
        this.onStop(() => ended.push('publication'));
        this.ready();
      });
      Meteor.onConnection((connection) => connection.onClose(() => ended.push('connection')));
      const client = new DdpClient();
      await client.subscribe('open').ready;
      client.close();
      expect(ended).to.deep.equal(['publication', 'connection']);
    });
  });

  it('limits rates by user and connection', async () => {
    Meteor.methods({ limited: () => 1, free: () => 1 });
    const rule = DDPRateLimiter.addRule(
      { type: 'method', name: (name) => name === 'limited', userId: () => true },
      2,
      60_000,
    );
    const client = new DdpClient({ userId: 'u' });
    await client.callAsync('limited');
    await client.callAsync('limited');
    expect(await failure(client.callAsync('limited'))).to.include({ error: 'too-many-requests' });
    await client.callAsync('free');
    const other = new DdpClient({ userId: 'v' });
    await other.callAsync('limited');
    expect(DDPRateLimiter.removeRule(rule)).to.equal(true);
    await client.callAsync('limited');
    client.close();
    other.close();
  });

  it('serves the app’s page where no handler responds', async () => {
    WebApp.handlers.get('/api/known', (_request, response) => void response.json({ ok: true }));
    WebApp.httpServer.listen(0, '127.0.0.1');
    await once(WebApp.httpServer, 'listening');
    const base = `http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
    expect(await (await fetch(`${base}/api/known`)).json()).to.deep.equal({ ok: true });
    const unknown = await fetch(`${base}/api/unknown`);
    expect(unknown.status).to.equal(200);
    expect(unknown.headers.get('content-type')).to.include('text/html');
    WebApp.httpServer.closeAllConnections();
    resetWebApp();
  });

  it('lets an error that no handler catches stop the process', async () => {
    WebApp.handlers.get('/api/broken', async () => {
      await Promise.resolve();
      throw new Error('uncaught');
    });
    WebApp.httpServer.listen(0, '127.0.0.1');
    await once(WebApp.httpServer, 'listening');
    const listeners = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    try {
      const stopped = once(process, 'uncaughtException');
      await failure(fetch(`http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}/api/broken`));
      expect(((await stopped) as [Error])[0].message).to.equal('uncaught');
    } finally {
      for (const listener of listeners) process.on('uncaughtException', listener);
      resetWebApp();
    }
  });

  it('provides Random, settings and the other small APIs', async () => {
    expect(Random.secret()).to.have.length(43);
    expect(Random.hexString(8)).to.match(/^[0-9a-f]{8}$/);
    expect(Accounts._hashLoginToken('token')).to.equal('PEaenWxYddN6Q/NT1PiOYfz4EsZu7jRXRlpAsNpBU+A=');
    expect(Tracker.nonreactive(() => 5)).to.equal(5);
    expect(() => Tracker.autorun(() => undefined)).to.throw();
    const started: string[] = [];
    Meteor.startup(() => started.push('now'));
    expect(started).to.deep.equal(['now']);
    await Meteor.users.insertAsync({ _id: 'u', username: 'ann' });
    Meteor.methods({ me: () => Meteor.userAsync() });
    const client = new DdpClient({ userId: 'u' });
    expect(await client.callAsync('me')).to.deep.equal({ _id: 'u', username: 'ann' });
    client.close();
  });
});
