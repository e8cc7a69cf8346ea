/**
 * Methods and publications that a Meteor app has exposed, on the strict stubs: as tools of runs, and over MCP by the
 * official client, as several users with different rights.
 */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { expect } from 'chai';
import { Accounts } from 'meteor/accounts-base';
import { check, Match } from 'meteor/check';
import { DDP } from 'meteor/ddp';
import { DDPRateLimiter } from 'meteor/ddp-rate-limiter';
import { Meteor } from 'meteor/meteor';
import { Mongo } from 'meteor/mongo';
import { WebApp } from 'meteor/webapp';
import { exposeMethods, exposures } from '../../imports/host/meteor/expose/exposeMethods';
import type { ExposeOptions } from '../../imports/host/meteor/expose/exposeMethods';
import { ExposedApp } from '../../imports/host/meteor/expose/ExposedApp';
import { isReserved } from '../../imports/host/meteor/expose/isReserved';
import { readPackages } from '../../imports/host/meteor/readPackages';
import { METEOR_PACKAGES } from '../meteor/meteorPackages';
import { registry, resetMeteor } from '../stubs/server/registry';
import { failure } from '../support/failure';
import { connect } from '../support/mcp/offeringServer';
import type { ConnectOptions } from '../support/mcp/offeringServer';
import { startMeteorApp } from '../support/meteorApp';
import type { MeteorApp, Person } from '../support/meteorApp';
import { inFlowingTime } from '../support/VirtualTime';
import { IS_SOAK } from '../support/soak';
import { until } from '../support/until';

interface Order {
  readonly _id: string;
  readonly owner: string;
  readonly state: string;
  readonly at?: Date;
}

interface Caller {
  readonly userId: string | null;
  readonly connection: unknown;
}

const globals = globalThis as { Package?: Readonly<Record<string, object>> };
const EXPOSED: ExposeOptions = {
  include: ['orders.*'],
  exclude: ['orders.purge'],
  needsApproval: ['orders.cancel'],
  publications: ['orders.*'],
};
/** Called before Bolide starts, as an app does in its modules. */
let orders: Mongo.Collection<Order>;

function defineOrders(): void {
  orders = new Mongo.Collection<Order>('orders');
  Meteor.methods({
    async 'orders.get'(this: Caller, id: unknown) {
      check(id, String);
      const order = await orders.findOneAsync({ _id: id, owner: this.userId });
      if (order === undefined) throw new Meteor.Error('no-such-order', `You have no order ${id}.`);
      return { ...order, seenBy: this.userId, connection: this.connection, inner: Meteor.userId() };
    },
    async 'orders.cancel'(this: Caller, { id }: { readonly id: unknown }) {
      check(id, String);
      const changed = await orders.updateAsync({ _id: id, owner: this.userId }, { $set: { state: 'cancelled' } });
      return { changed };
    },
    'orders.fail'() {
      throw new Error('the database password is hunter2');
    },
    'orders.purge': () => 'purged',
    'orders._recount': () => 'recounted',
    'orders.admin.delete': () => 'deleted',
  });
  Meteor.publish('orders.mine', function (this: Caller) {
    return orders.find({ owner: this.userId ?? '' });
  });
  Meteor.publish('orders.inState', function (this: Caller, state: unknown, since: unknown) {
    check(state, String);
    check(since, Match.Maybe(Date));
    if (state === 'secret') throw new Meteor.Error('not-allowed', 'You may not read these.');
    return orders.find({ owner: this.userId ?? '', state });
  });
  Meteor.publish('orders.unchecked', () => orders.find({}));
}

describe(
  'exposeMethods',
  inFlowingTime(() => {
    let app: MeteorApp;
    let url: string;
    const clients: Client[] = [];

    before(async () => {
      globals.Package = {
        ddp: { DDP },
        'ddp-rate-limiter': { DDPRateLimiter },
        check: { check, Match },
        'audit-argument-checks': {},
      };
      exposeMethods(EXPOSED);
      app = await startMeteorApp({ MCP_SESSIONS: 'on' }, { onReset: defineOrders });
      for (const owner of ['ann', 'bob', 'cat'])
        await orders.insertAsync({ _id: `o-${owner}`, owner, state: 'open', at: new Date(0) });
      WebApp.httpServer.listen(0, '127.0.0.1');
      await once(WebApp.httpServer, 'listening');
      url = `http://127.0.0.1:${(WebApp.httpServer.address() as AddressInfo).port}`;
    });

    afterEach(async () => {
      for (const client of clients.splice(0)) await client.close();
    });

    after(async () => {
      await app.stop();
      exposures.length = 0;
      delete globals.Package;
    });

    const clientOf = async (person: Person, options?: ConnectOptions): Promise<Client> => {
      const token = `login-token-of-${person}`;
      const loginTokens = [{ hashedToken: Accounts._hashLoginToken(token), when: new Date() }];
      await Meteor.users.updateAsync({ _id: person }, { $set: { services: { resume: { loginTokens } } } });
      const client = await connect({ url, token }, options);
      clients.push(client);
      return client;
    };
    const textOf = (result: Awaited<ReturnType<Client['callTool']>>): string => {
      const [content] = result.content as readonly { readonly text?: string }[];
      return (result.isError === true ? 'error: ' : '') + (content?.text ?? '');
    };
    const readText = async (client: Client, uri: string): Promise<string> => {
      const { contents } = await client.readResource({ uri });
      return (contents as readonly { readonly text?: string }[])[0]?.text ?? '';
    };

    it('offers what is chosen, and nothing else, with what it reads of the arguments', async () => {
      const client = await clientOf('bob');
      const { tools } = await client.listTools();
      expect(tools.map(({ name }) => name)).to.deep.equal([
        'orders_cancel',
        'orders_fail',
        'orders_get',
        'read_orders_inState',
        'read_orders_mine',
        'read_orders_unchecked',
      ]);
      expect(tools.find(({ name }) => name === 'orders_get')?.inputSchema).to.deep.include({
        properties: { id: { type: 'string' } },
        required: ['id'],
      });
      expect(String(await failure(client.callTool({ name: 'orders_purge' })))).to.match(/Unknown tool/);
    });

    it("calls a method as the user, and tells what Meteor's clients would be told of errors", async () => {
      const client = await clientOf('bob');
      const order = JSON.parse(
        textOf(await client.callTool({ name: 'orders_get', arguments: { id: 'o-bob' } })),
      ) as object;
      expect(order).to.deep.include({ seenBy: 'bob', connection: null, inner: 'bob', at: '1970-01-01T00:00:00.000Z' });
      expect(textOf(await client.callTool({ name: 'orders_get', arguments: { id: 'o-ann' } }))).to.equal(
        'error: You have no order o-ann. [no-such-order]',
      );
      expect(textOf(await client.callTool({ name: 'orders_fail' }))).to.equal('error: Internal server error [500]');
      expect(registry.log.at(-1)?.context).to.equal("Exception while invoking method 'orders.fail'");
    });

    it('is a tool of runs, whose calls a person approves where that is demanded', async () => {
      const run = async (name: string, given: object): Promise<{ readonly executionId: string }> => {
        app.simulator.enqueue({ calls: [{ name, arguments: given }] }, { text: 'Done.' });
        return (await app.call('bob', 'ai.runs.start', {
          ...{ requestId: name, providerId: 'shared', input: 'Go.' },
          tools: [name],
        })) as { readonly executionId: string };
      };
      const { executionId } = await run('orders_get', { id: 'o-bob' });
      const { result } = await app.events.seen('tool:completed', (event) => event.executionId === executionId);
      expect(result).to.include('"seenBy":"bob"');
      const waiting = await run('orders_cancel', { id: 'o-bob' });
      await app.events.seen('tool:approval_required', (event) => event.executionId === waiting.executionId);
      expect(await orders.findOneAsync('o-bob')).to.deep.include({ state: 'open' });
      await app.call('bob', 'ai.runs.cancel', { executionId: waiting.executionId });
    });

    it('reads publications as tools and as resources, with their arguments, as the user', async () => {
      const client = await clientOf('cat');
      const document = { _id: 'o-cat', owner: 'cat', state: 'open', at: '1970-01-01T00:00:00.000Z' };
      const mine = { documents: { orders: [document] } };
      const read = async (name: string, given?: Record<string, unknown>): Promise<string> =>
        textOf(await client.callTool({ name, arguments: given ?? {} }));
      expect(JSON.parse(await read('read_orders_mine'))).to.deep.equal(mine);
      expect(JSON.parse(await read('read_orders_inState', { state: 'closed' }))).to.deep.equal({ documents: {} });
      expect(await read('read_orders_inState', { state: 'secret' })).to.equal(
        'error: You may not read these. [not-allowed]',
      );
      const { resources } = await client.listResources();
      expect(resources.map(({ uri }) => uri)).to.have.members([
        'meteor://publications/orders.mine',
        'meteor://publications/orders.unchecked',
      ]);
      const { resourceTemplates } = await client.listResourceTemplates();
      expect(resourceTemplates.map(({ uriTemplate }) => uriTemplate)).to.deep.equal([
        'meteor://publications/orders.inState{?state,since}',
      ]);
      expect(JSON.parse(await readText(client, 'meteor://publications/orders.mine'))).to.deep.equal(mine);
      expect(JSON.parse(await readText(client, 'meteor://publications/orders.inState?state=open'))).to.deep.equal(mine);
      for (const wrong of ['orders.none', 'orders.mine?other=1', 'orders.inState?state=secret', 'orders.inState'])
        expect(await failure(client.readResource({ uri: `meteor://publications/${wrong}` }))).to.be.instanceOf(Error);
    });

    for (const revision of ['2026-07-28', '2025-11-25'] as const)
      it(`tells of changes of what the user sees, and of nothing else, in the revision ${revision}`, async () => {
        const uri = 'meteor://publications/orders.mine';
        const updates = new Map<Person, string[]>([
          ['bob', []],
          ['cat', []],
        ]);
        for (const [person, told] of updates) {
          const client = await clientOf(person, {
            revision,
            prepare: (each) =>
              each.setNotificationHandler(
                'notifications/resources/updated',
                ({ params }) => void told.push(params.uri),
              ),
          });
          if (revision === '2026-07-28') await client.listen({ resourceSubscriptions: [uri] });
          else await client.subscribeResource({ uri });
          // The stream of a session is open once the server has answered another request after it.
          await client.listTools();
        }
        await orders.updateAsync({ _id: 'o-bob' }, { $set: { state: `seen-${revision}` } });
        await until(() => updates.get('bob')!.length > 0);
        expect(updates.get('bob')).to.deep.equal([uri]);
        expect(updates.get('cat')).to.deep.equal([]);
        const [bob, cat] = clients;
        if (revision === '2025-11-25') {
          await cat!.unsubscribeResource({ uri });
          await orders.updateAsync({ _id: 'o-cat' }, { $set: { state: 'open' } });
          await orders.updateAsync({ _id: 'o-bob' }, { $set: { state: 'open' } });
          await until(() => updates.get('bob')!.length > 1);
          expect(updates.get('cat')).to.deep.equal([]);
          await (bob!.transport as StreamableHTTPClientTransport).terminateSession();
        }
        await Promise.all(clients.map((client) => client.close()));
        await until(() => registry.collections.get('orders')?.watching === 0);
      });

    it('never shows a user what is of another one', async () => {
      const people = ['bob', 'cat'] as const;
      const both = await Promise.all(people.map((person) => clientOf(person)));
      const answers = await Promise.all(
        Array.from({ length: IS_SOAK ? 100 : 10 }, async (_, index) => {
          const client = both[index % 2]!;
          const [own, other] = index % 2 === 0 ? people : [people[1], people[0]];
          const texts = await Promise.all([
            client.callTool({ name: 'orders_get', arguments: { id: `o-${own}` } }).then(textOf),
            client.callTool({ name: 'orders_get', arguments: { id: `o-${other}` } }).then(textOf),
            readText(client, 'meteor://publications/orders.mine'),
          ]);
          const isRight = texts[0].includes(`"seenBy":"${own}"`) && texts[1].startsWith('error: You have no order');
          return isRight && texts[2].includes(`"owner":"${own}"`) && !texts[2].includes(`"owner":"${other}"`);
        }),
      );
      expect(answers.filter((isRight) => !isRight)).to.have.length(0);
    });
  }),
);

describe('The options of exposeMethods', () => {
  afterEach(() => {
    exposures.length = 0;
    delete globals.Package;
  });
  after(() => resetMeteor());

  it('refuses names of nothing, and two tools of one name', async () => {
    globals.Package = { ddp: { DDP } };
    resetMeteor();
    defineOrders();
    for (const [options, message] of [
      [{ include: ['orders.gett'] }, /"include" names "orders.gett"/],
      [{ include: ['orders.*'], needsApproval: ['orders.cancle'] }, /"needsApproval" names "orders.cancle"/],
      [
        { include: ['orders.*'], needsApproval: ['orders.admin.delete'] },
        /"needsApproval" names "orders.admin.delete"/,
      ],
      [{ include: ['orders.*'], exclude: ['order.get'] }, /"exclude" names "order.get"/],
      [{ publications: ['order.*'] }, /"publications" names "order.\*"/],
      [{ include: ['orders.*'], details: { 'orders.purged': {} } }, /"details" names "orders.purged"/],
      [
        { include: ['orders.*'], details: { 'orders.get': { name: 'orders_cancel' } } },
        /"orders.get" and "orders.cancel" would both be the tool "orders_cancel"/,
      ],
    ] as const) {
      exposures.length = 0;
      exposeMethods(options);
      const opening = ExposedApp.open(readPackages(METEOR_PACKAGES), exposures);
      expect(String(await failure(opening)), JSON.stringify(options)).to.match(message);
    }
    exposeMethods({ include: ['orders.get'] });
    exposeMethods({ include: ['orders.get'] });
    expect(String(await failure(ExposedApp.open(readPackages(METEOR_PACKAGES), exposures.slice(1))))).to.match(
      /"orders.get" is exposed twice/,
    );
    for (const options of [
      {},
      { include: 'orders.*' },
      { inclde: ['a'] },
      { include: ['a'], details: { a: { x: 1 } } },
    ])
      expect(() => exposeMethods(options as never)).to.throw(/must|unknown/i);
  });

  it('offers methods of accounts, of admins, and private ones only if they are named', () => {
    for (const name of [
      'login',
      'createUser',
      '/orders/insert',
      '_private',
      'a._b',
      'ai.runs.start',
      'meteor.loginServiceConfiguration',
      'meteor_autoupdate_clientVersions',
      'users.Admin.list',
    ])
      expect(isReserved(name), name).to.equal(true);
    for (const name of ['orders.get', 'meteors.list', 'administer', 'users_list', 'aid.give'])
      expect(isReserved(name), name).to.equal(false);
  });
});
