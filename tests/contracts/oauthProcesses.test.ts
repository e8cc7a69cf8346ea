/**
 * Four processes with twenty-five callers each want the same expired token, round after round, while whoever
 * refreshes it is killed or stopped: one refresh for each expiry, and the grant stays alive on a server that
 * forgives nothing.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openMongoDatabase } from '../../imports/business/ai/infrastructure/persistence/databases/MongoDatabase';
import { bundleChild } from '../support/bundleChild';
import { deferred } from '../support/deferred';
import { startTestMongo } from '../support/miniMongod';
import type { TestMongo } from '../support/miniMongod';
import { AuthorizationHost } from '../support/oauth/AuthorizationHost';
import { connectAs, createProvider, PROVIDER_ID } from '../support/oauth/connectedProvider';
import { ProvidersHost } from '../support/oauth/ProvidersHost';
import { RefreshProcess } from '../support/oauth/RefreshProcess';
import type { Told } from '../support/oauth/RefreshProcess';
import type { Point } from '../support/oauth/refreshChild';
import { seededRandom } from '../support/seededRandom';

const PROCESSES = 4;
const CALLERS = 25;
const FULL = process.env['BOLIDE_FULL'] === '1';
const ROUNDS = FULL ? 20 : 2;
const SEED = Number(process.env['BOLIDE_SEED'] ?? 20_260_101);
/**
 * Shorter than the product's, so that those who wait for the dead don't wait long; longer than a busy machine makes
 * the living wait. In milliseconds.
 */
const LEASES = { claimed: 400, sent: FULL ? 6_000 : 2_000 };
/** A nap of the holder's, well within its lease. */
const NAP = 500;

interface Fault {
  readonly point: Point;
  readonly how: 'kill' | 'stop' | 'stop briefly';
}

/** What may happen to a holder without the server's having taken its token: nothing of it may be noticed. */
const FAULTS: readonly (Fault | undefined)[] = [
  { point: 'claimed', how: 'stop' },
  { point: 'sent', how: 'kill' },
  { point: 'claimed', how: 'kill' },
  { point: 'sent', how: 'stop' },
  { point: 'answered', how: 'stop briefly' },
  undefined,
];

describe(`refreshing by ${PROCESSES} processes`, function () {
  this.timeout(FULL ? 600_000 : 120_000);
  let mongo: TestMongo;
  let app: ProvidersHost;
  let bundle: string;
  let children: RefreshProcess[];
  let server: AuthorizationHost;

  before(async () => {
    [mongo, bundle] = await Promise.all([
      startTestMongo(),
      bundleChild(join(__dirname, '../support/oauth/refreshChild.ts')),
    ]);
    const database = await openMongoDatabase(mongo.url);
    const close = async (): Promise<void> => database.close();
    app = await ProvidersHost.start({
      database: { database, expire: () => Promise.resolve(), close },
      refreshLeases: LEASES,
    });
    children = await Promise.all(Array.from({ length: PROCESSES }, () => startChild()));
  });
  after(async () => {
    await Promise.all(children.map((child) => child.kill()));
    await app.stop();
    await mongo.stop();
    await rm(bundle);
  });
  afterEach(() => server.stop());

  const startChild = (): Promise<RefreshProcess> =>
    RefreshProcess.start(bundle, { mongoUrl: mongo.url, settings: app.settings });

  const connect = async (reuseGraceMs: number): Promise<void> => {
    server = await AuthorizationHost.start({ redirectUris: [`${app.url}/oauth/callback`], reuseGraceMs });
    if ((await app.module.service.find(PROVIDER_ID)) !== undefined) await app.module.service.remove(PROVIDER_ID);
    await createProvider(app, server);
    expect((await connectAs(app, 'alice')).page.status).to.equal(200);
  };

  /** One expiry; the first process to reach the point meets the fault. */
  const round = async (fault: Fault | undefined): Promise<readonly Told[]> => {
    await app.expire(PROVIDER_ID, 'alice');
    const struck = deferred<RefreshProcess>();
    let victim: RefreshProcess | undefined;
    for (const child of children) {
      child.onReached = (point) => {
        if (victim !== undefined || point !== fault?.point) {
          child.goOn();
          return;
        }
        victim = child;
        strike(child, fault.how);
        struck.resolve(child);
      };
    }
    const asked = children.map((child) => ({ child, told: child.ask(PROVIDER_ID, 'alice', CALLERS) }));
    if (fault?.how === 'stop') {
      const stopped = await struck.promise;
      await Promise.all(asked.filter(({ child }) => child !== stopped).map(({ told }) => told));
      stopped.wake();
    }
    const told = await Promise.all(asked.map((each) => each.told));
    children = await Promise.all(children.map(async (child) => (child.isAlive ? child : startChild())));
    return told.filter((each) => each !== undefined);
  };

  it(`refresh once for each of ${ROUNDS} expiries, and lose no grant`, async () => {
    await connect(0);
    const random = seededRandom(SEED);
    let last = '';
    for (let number = 0; number < ROUNDS; number++) {
      const fault = number < FAULTS.length ? FAULTS[number] : FAULTS[Math.floor(random() * FAULTS.length)];
      const name = `round ${number} (seed ${SEED}): ${fault === undefined ? 'no fault' : `${fault.how} at ${fault.point}`}`;
      const before = server.tokenRequests.length;
      const told = await round(fault);
      expect(
        told.flatMap(({ errors }) => errors),
        name,
      ).to.deep.equal([]);
      const tokens = new Set(told.flatMap((each) => each.tokens));
      expect(tokens.size, name).to.equal(1);
      expect(
        told.flatMap((each) => each.tokens),
        name,
      ).to.have.length(told.length * CALLERS);
      expect(told.length, name).to.equal(fault?.how === 'kill' ? PROCESSES - 1 : PROCESSES);
      expect(
        server.tokenRequests.slice(before).map(({ status }) => status),
        `${name}: requests`,
      ).to.deep.equal([200]);
      const [token = ''] = tokens;
      expect(token, name).not.to.equal(last);
      last = token;
    }
  });

  it('recovers from the death of a process that had received a response, if the server has a grace period', async () => {
    await connect(60_000);
    const told = await round({ point: 'answered', how: 'kill' });
    expect(told.flatMap(({ errors }) => errors)).to.deep.equal([]);
    expect(new Set(told.flatMap(({ tokens }) => tokens)).size).to.equal(1);
    expect(server.granted('refresh_token'), 'one was lost').to.equal(2);
  });

  if (FULL) {
    it('requires a reconnect after such a death, if the server has no grace period', async () => {
      await connect(0);
      const told = await round({ point: 'answered', how: 'kill' });
      expect(told.flatMap(({ tokens }) => tokens)).to.deep.equal([]);
      for (const error of told.flatMap(({ errors }) => errors)) expect(error).to.include('reconnect required');
      expect((await connectAs(app, 'alice')).page.status).to.equal(200);
      expect((await round(undefined)).flatMap(({ errors }) => errors)).to.deep.equal([]);
    });

    it('does not let a process that was paused beyond its lease replace a newer token', async () => {
      await connect(60_000);
      const told = await round({ point: 'answered', how: 'stop' });
      expect(told.flatMap(({ errors }) => errors)).to.deep.equal([]);
      const tokens = new Set(told.flatMap((each) => each.tokens));
      expect(tokens.size, 'the sleeper has the newer one too').to.equal(1);
      expect(tokens).to.include(
        (await app.module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId: 'alice' }))?.token,
      );
    });

    it('refreshes five hundred accounts concurrently, each once', async () => {
      await connect(0);
      const users = Array.from({ length: 500 }, (_value, index) => `user-${index}`);
      for (const userId of users) {
        app.users.set(userId, { userId, source: 'method' });
        expect((await connectAs(app, userId)).page.status).to.equal(200);
      }
      await app.credentials.update({ kind: 'oauth' }, { $set: { expiresAt: Date.now() - 1 } }, { multi: true });
      for (const child of children) child.onReached = () => child.goOn();
      const before = server.tokenRequests.length;
      // However busy the machine is: nobody dies here.
      const refreshLeases = { claimed: 30_000, sent: 120_000 };
      const modules = [app.another({ refreshLeases }), app.another({ refreshLeases })];
      const tokens = await Promise.all(
        users.flatMap((userId) =>
          modules.map(
            async (module) => (await module.credentials.getAccessToken({ providerId: PROVIDER_ID, userId }))?.token,
          ),
        ),
      );
      expect(new Set(tokens).size).to.equal(users.length);
      expect(server.tokenRequests.slice(before).map(({ status }) => status)).to.deep.equal(users.map(() => 200));
    });
  }
});

function strike(child: RefreshProcess, how: Fault['how']): void {
  if (how === 'kill') void child.kill();
  else child.stop();
  // The rest of the answer's lease is left when it wakes.
  if (how === 'stop briefly') setTimeout(() => child.wake(), NAP);
}
