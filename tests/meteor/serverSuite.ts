/**
 * Tests inside Meteor: login, methods, publications, HTTP, OAuth, queued runs, stores, and methods as tools, on
 * Meteor's own collections, sockets and invocations. They use only Mocha's globals.
 */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { check } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { Meteor } from 'meteor/meteor';
import type { StoredDocument } from '../../imports/database/DocumentCollection';
import { MethodTools } from '../../imports/business/ai/infrastructure/tools/MethodTools';
import { ToolRegistry } from '../../imports/business/ai/infrastructure/tools/ToolRegistry';
import { createHost } from '../../imports/host/createHost';
import { createFirstUser } from '../../imports/host/meteor/configureAccounts';
import { startBolide } from '../../imports/host/meteor/startBolide';
import type { MeteorHost } from '../../imports/host/meteor/startBolide';
import { readMeteorSettings } from '../../imports/host/settings/meteor';
import type { SignIn, SignedIn } from './SignedIn';
import { FakeAuthorizationServer } from './FakeAuthorizationServer';
import { FakeVendor } from './FakeVendor';
import { FIRST_USER } from './firstUser';
import type { FakeResponse } from './FakeVendor';
import { METEOR_PACKAGES } from './meteorPackages';

/** A key of 32 bytes for tests. */
const SECRETS = 'k1:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=';

interface PublishedRun {
  readonly _id: string;
  readonly state: string;
}

interface PublishedCall {
  readonly executionId: string;
  readonly callId: string;
  readonly state: string;
  readonly arguments: string;
}

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

export interface ServerSuiteOptions {
  readonly signIn: SignIn;
  /** Leaves the host open after the suite, for the client suite. */
  readonly staysOpen?: boolean;
}

export function serverSuite({ signIn, staysOpen = false }: ServerSuiteOptions): void {
  describe('the server inside Meteor', function () {
    // Milliseconds. Mocha's default inside Meteor, two seconds, is too short for a busy machine.
    this.timeout(30_000);
    const vendor = new FakeVendor();
    const authorizationServer = new FakeAuthorizationServer();
    let vendorUrl: string;
    let signedIn: SignedIn;
    const tools = new ToolRegistry();
    let host: MeteorHost;
    let admin: string;
    let requests = 0;

    before(async () => {
      await Meteor.users.removeAsync({});
      vendorUrl = await vendor.start();
      await authorizationServer.start();
      Meteor.settings['ai'] = {
        secrets: SECRETS,
        admins: ['admin@example.com'],
        firstUser: FIRST_USER,
        allowSignUp: false,
        allowPrivateHosts: true,
        LLAMA_BASE_URL: vendorUrl,
        LLAMA_MODEL: 'fake',
      };
      Meteor.methods({
        'bolideTest.currentUser'(this: { readonly userId: string | null }, given: unknown) {
          check(given, {});
          return `The current user is ${this.userId ?? 'anonymous'}.`;
        },
      });
      tools.register(
        new MethodTools({ Meteor, DDP }).expose('bolideTest.currentUser', {
          description: 'Names the current user.',
          parameters: { type: 'object', properties: {}, additionalProperties: false },
        }),
      );
      tools.register({
        name: 'delete_file',
        description: 'Deletes a file.',
        parameters: { type: 'object', properties: {}, additionalProperties: false },
        needsApproval: true,
        execute: () => 'The file is deleted.',
      });
      Meteor.methods({
        /** Lets the client suite script the vendor. */
        'bolideTest.respond'(responses: unknown) {
          check(responses, [Object]);
          vendor.responses.push(...(responses as FakeResponse[]));
        },
      });
      host = await startBolide({ ...METEOR_PACKAGES, tools, httpPath: '' });
      const [user] = await Meteor.users.find({}).fetchAsync();
      admin = user?._id ?? '';
    });
    after(async () => {
      signedIn.client.close();
      authorizationServer.stop();
      if (staysOpen) return;
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
      const stops: (() => void)[] = [];
      const subscription = {
        userId,
        unblock: () => undefined,
        onStop: (stop: () => void): void => void stops.push(stop),
      };
      const cursors = await handler.call(subscription, argument);
      const documents = await Promise.all(cursors.map((cursor) => cursor.fetchAsync()));
      for (const stop of stops) stop();
      return documents.flat();
    };
    const request = (fields: object = {}): object => ({
      requestId: `r${Date.now()}-${(requests += 1)}`,
      providerId: 'llama',
      input: 'Hello',
      ...fields,
    });
    const code = (error: unknown): unknown => (error as { error?: unknown }).error;

    /** Approves a run's call from the client, as soon as the client sees that it waits. */
    const approve = async (executionId: string): Promise<void> => {
      const { client } = signedIn;
      const { callId, arguments: args } = await client.waitFor<PublishedCall>(
        'ai_tool_calls',
        (seen) => seen.executionId === executionId && seen.state === 'awaiting_approval',
      );
      const argumentsHash = createHash('sha256').update(args).digest('hex');
      await client.callAsync('ai.runs.approve', { executionId, callId, argumentsHash });
    };

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
      await createFirstUser(METEOR_PACKAGES, FIRST_USER);
      assert.equal((await Meteor.users.find({}).fetchAsync()).length, 1);
      assert.equal((await host.users.findUser(admin))?.isAdmin, true);
    });

    it('signs in over DDP with the right password only', async () => {
      await assert.rejects(signIn(FIRST_USER.email, 'a wrong password'), (error) => code(error) === 403);
      signedIn = await signIn(FIRST_USER.email, FIRST_USER.password);
      assert.equal(signedIn.userId, admin);
    });

    it('accepts a login token on the HTTP API', async () => {
      vendor.responses.push({ text: 'Hello over HTTP.' });
      const response = await fetch(Meteor.absoluteUrl('v1/chat/completions'), {
        method: 'POST',
        headers: { authorization: `Bearer ${signedIn.loginToken}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'llama', messages: [{ role: 'user', content: 'Hello' }] }),
      });
      const body = (await response.json()) as { readonly choices: readonly { message: { content: string } }[] };
      assert.equal(response.status, 200, JSON.stringify(body));
      assert.equal(body.choices[0]?.message.content, 'Hello over HTTP.');
    });

    it('publishes every step of a run to a client, and takes its approval', async () => {
      const { client } = signedIn;
      vendor.responses.push({ call: { name: 'delete_file', arguments: '{}' } }, { text: 'It is gone.' });
      const { executionId } = (await client.callAsync('ai.runs.start', request({ tools: ['delete_file'] }))) as {
        readonly executionId: string;
      };
      await client.subscribe('ai.run', { executionId });
      await approve(executionId);
      const run = await client.waitFor<PublishedRun>(
        'ai_runs',
        (seen) => seen._id === executionId && seen.state === 'completed',
      );
      assert.equal(run._id, executionId);
    });

    it('connects an account, whose token then authenticates its user’s calls', async () => {
      const { client, loginToken } = signedIn;
      await client.callAsync('ai.providers.create', {
        providerId: 'acme',
        name: 'Acme',
        vendor: 'openai_compatible',
        baseURL: vendorUrl,
        defaultModel: 'fake',
        access: 'everyone',
        auth: { kind: 'oauth_user', issuer: authorizationServer.url, clientId: 'bolide', clientSecret: 'secret' },
      });
      const headers = { authorization: `Bearer ${loginToken}` };
      const started = await fetch(Meteor.absoluteUrl('oauth/acme/start'), { headers, redirect: 'manual' });
      assert.equal(started.status, 303, await started.text());
      const cookie = started.headers
        .getSetCookie()
        .map((line) => line.split(';')[0])
        .join('; ');
      const consented = await fetch(started.headers.get('location') ?? '', { redirect: 'manual' });
      const callback = await fetch(consented.headers.get('location') ?? '', { headers: { ...headers, cookie } });
      assert.match(await callback.text(), /Your Acme account is connected/);
      vendor.responses.push({ text: 'Hello from Acme.' });
      const text = await client.callAsync('ai.llm.generateText', request({ providerId: 'acme' }));
      assert.equal(text, 'Hello from Acme.');
      assert.equal(vendor.lastAuthorization, `Bearer ${authorizationServer.issued[0] ?? ''}`);
    });

    it('executes a queued run once', async () => {
      vendor.responses.push({ text: 'Done by a worker.' });
      const queued = { requestId: 'queued', providerId: 'llama', input: 'Hello', tools: [] };
      const queue = (): Promise<{ readonly executionId: string }> =>
        host.module.useCases.queueRun.execute({ userId: admin, source: 'job' }, queued);
      const [{ executionId }, again] = await Promise.all([queue(), queue()]);
      assert.equal(again.executionId, executionId);
      const { response } = await host.module.loop.waitForResult(executionId);
      assert.match(JSON.stringify(response), /Done by a worker/);
    });

    it('continues a run of a process that has closed', async () => {
      const { admins, adminRoles, firstUser, allowSignUp, ...settings } = readMeteorSettings(Meteor.settings['ai'], {});
      const { authenticate, findUser } = host.users;
      const other = await createHost(
        { ...settings, rootUrl: Meteor.absoluteUrl() },
        { database: host.database, authenticate, findUser, hasAccounts: true, ai: { tools } },
      );
      vendor.responses.push({ call: { name: 'delete_file', arguments: '{}' } }, { text: 'It is gone.' });
      const { executionId } = await other.runs.methods['ai.runs.start'](
        { userId: admin, isAdmin: true, source: 'method' },
        request({ tools: ['delete_file'] }),
      );
      const { client } = signedIn;
      await client.subscribe('ai.run', { executionId });
      await client.waitFor<PublishedCall>('ai_tool_calls', (seen) => seen.executionId === executionId);
      await other.close();
      await approve(executionId);
      await client.waitFor<PublishedRun>('ai_runs', (seen) => seen._id === executionId && seen.state === 'completed');
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
