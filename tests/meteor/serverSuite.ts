/**
 * Tests inside Meteor: stores, methods, publications, HTTP, and methods as tools, on Meteor's own
 * collections and invocations. They use only Mocha's globals.
 */
import assert from 'node:assert/strict';
import { check } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { Meteor } from 'meteor/meteor';
import type { StoredDocument } from '../../imports/business/ai/domain/interfaces/DocumentCollection';
import { MethodTools } from '../../imports/business/ai/infrastructure/tools/MethodTools';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { createFirstUser } from '../../imports/startup/meteor/configureAccounts';
import { startBolide } from '../../imports/startup/meteor/startBolide';
import type { MeteorHost } from '../../imports/startup/meteor/startBolide';
import { FakeVendor } from './FakeVendor';

/** A key of 32 bytes for tests. */
const SECRETS = 'k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

const FIRST_USER = { email: 'admin@example.com', password: 'a long password' };

interface Counted extends StoredDocument {
  readonly state: string;
  readonly count: number;
}

/** The part of a publication's `this` that the app uses. */
interface Subscriber {
  readonly userId: string | null;
  unblock(): void;
}
type Handler = (
  this: Subscriber,
  argument?: object,
) => Promise<readonly { fetchAsync(): Promise<readonly object[]> }[]>;

export function serverSuite(): void {
  describe('the server inside Meteor', () => {
    const vendor = new FakeVendor();
    let host: MeteorHost;
    let admin: string;
    let requests = 0;

    before(async () => {
      await Meteor.users.removeAsync({});
      Meteor.settings['ai'] = {
        secrets: SECRETS,
        admins: ['admin@example.com'],
        firstUser: FIRST_USER,
        allowSignUp: false,
        LLAMA_BASE_URL: await vendor.start(),
        LLAMA_MODEL: 'fake',
      };
      Meteor.methods({
        'bolideTest.currentUser'(this: { readonly userId: string | null }, given: unknown) {
          check(given, {});
          return `The current user is ${this.userId ?? 'anonymous'}.`;
        },
      });
      const tools = new ToolRegistry();
      new MethodTools(tools).expose('bolideTest.currentUser', {
        description: 'Names the current user.',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
      });
      host = await startBolide({ tools });
      const [user] = await Meteor.users.find({}).fetchAsync();
      admin = user?._id ?? '';
    });
    after(async () => {
      await host.close();
      vendor.stop();
    });

    /** Calls a method as a client does, inside an invocation with its user. */
    const call = (userId: string | null, method: string, ...args: unknown[]): Promise<unknown> => {
      const variable = DDP._CurrentMethodInvocation as { withValue<R>(value: object, run: () => R): R };
      return variable.withValue(
        { userId, connection: null, setUserId: () => undefined, unblock: () => undefined },
        () => Meteor.applyAsync(method, args),
      );
    };
    const published = async (userId: string | null, name: string, argument?: object): Promise<readonly object[]> => {
      const handler = (Meteor as unknown as { server: { publish_handlers: Record<string, Handler> } }).server
        .publish_handlers[name];
      assert.ok(handler, name);
      const cursors = await handler.call({ userId, unblock: () => undefined }, argument);
      return (await Promise.all(cursors.map((cursor) => cursor.fetchAsync()))).flat();
    };
    const request = (fields: object = {}): object => ({
      requestId: `r${Date.now()}-${(requests += 1)}`,
      providerId: 'llama',
      input: 'Hello',
      ...fields,
    });
    const code = (error: unknown): unknown => (error as { error?: unknown }).error;

    it('serves the API beside Meteor’s own pages', async () => {
      const health = await fetch(Meteor.absoluteUrl('health'));
      assert.equal(health.status, 200);
      assert.deepEqual(await health.json(), { status: 'ok' });
      const unauthorized = await fetch(Meteor.absoluteUrl('v1/responses'), {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: '{}',
      });
      assert.equal(unauthorized.status, 401);
      assert.equal((await fetch(Meteor.absoluteUrl('v1/nothing'))).status, 404);
      assert.match((await fetch(Meteor.absoluteUrl('anything'))).headers.get('content-type') ?? '', /html/);
    });

    it('creates the first user once, and disables sign-up', async () => {
      assert.notEqual(admin, '');
      await createFirstUser(FIRST_USER);
      assert.equal((await Meteor.users.find({}).fetchAsync()).length, 1);
      assert.equal((await host.users.findUser(admin))?.isAdmin, true);
    });

    it('runs methods, and rejects anonymous callers and invalid arguments', async () => {
      vendor.responses.push({ text: 'Hello to you.' });
      assert.equal(await call(admin, 'ai.llm.generateText', request()), 'Hello to you.');
      await assert.rejects(call(null, 'ai.llm.generateText', request()), (error) => code(error) === 'auth-failed');
      await assert.rejects(
        call(admin, 'ai.llm.generateText', request({ providerId: { $gt: '' } })),
        (error) => code(error) === 'invalid-request',
      );
      await assert.rejects(
        call(admin, 'ai.llm.generateText', 1),
        (error) => (error as { errorType?: unknown }).errorType === 'Match.Error' || code(error) === 400,
      );
    });

    it('runs a method as a tool, as the run’s user', async () => {
      vendor.responses.push({ call: { name: 'bolideTest_currentUser', arguments: '{}' } }, { text: 'Done.' });
      const { executionId } = (await call(admin, 'ai.runs.start', request({ tools: ['bolideTest_currentUser'] }))) as {
        executionId: string;
      };
      await host.module.loop.waitForResult(executionId);
      const [seen] = (await published(admin, 'ai.toolCalls', { executionId })) as readonly {
        result?: string;
        state: string;
      }[];
      assert.equal(seen?.state, 'completed');
      assert.equal(seen.result, `The current user is ${admin}.`);
    });

    it('publishes runs only to their owners', async () => {
      const own = await published(admin, 'ai.runs');
      assert.ok(own.length > 0);
      for (const run of own)
        for (const hidden of ['plan', 'owner', 'fence', 'requestId', 'response', 'transcript'])
          assert.equal(hidden in run, false, hidden);
      assert.deepEqual(await published(null, 'ai.runs'), []);
      assert.deepEqual(await published('stranger', 'ai.runs'), []);
      const { executionId } = (await call(admin, 'ai.runs.start', request({ tools: [] }))) as { executionId: string };
      await host.module.loop.waitForResult(executionId);
      assert.ok((await published(admin, 'ai.run', { executionId })).length >= 1);
      assert.deepEqual(await published('stranger', 'ai.run', { executionId }), []);
    });

    it('provides compare-and-set and unique indexes on Meteor’s collections', async () => {
      const collection = host.database.collection<Counted>('bolide_test_documents');
      await collection.remove({});
      await collection.insert({ _id: 'a', state: 'old', count: 0 });
      const moved = await Promise.all(
        Array.from({ length: 8 }, () =>
          collection.update({ _id: 'a', state: 'old' }, { $set: { state: 'new' }, $inc: { count: 1 } }),
        ),
      );
      assert.equal(
        moved.reduce((sum, each) => sum + each, 0),
        1,
      );
      assert.deepEqual(await collection.findOne({ _id: 'a' }), { _id: 'a', state: 'new', count: 1 });
      await assert.rejects(
        collection.insert({ _id: 'a', state: 'x', count: 0 }),
        (error) => (error as { code?: unknown }).code === 'conflict',
      );
      await collection.remove({});
    });
  });
}
