/**
 * Four processes with twenty-five callers each repeatedly request the same expired token, while the refreshing process
 * is killed or stopped. Each expiry causes one refresh, and the grant survives on a server that permits no reuse.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { expect } from 'chai';
import { openMongoDatabase } from '../../imports/database/mongo/MongoDatabase';
import { bundleChild } from '../support/bundleChild';
import { deferred } from '../support/deferred';
import { startTestMongo } from '../support/startTestMongo';
import type { TestMongo } from '../support/startTestMongo';
import { TestAuthorizationServer } from '../support/oauth/TestAuthorizationServer';
import { connectAs, createProvider, PROVIDER_ID } from '../support/oauth/connectedProvider';
import { ProvidersHost } from '../support/oauth/ProvidersHost';
import { RefreshProcess } from '../support/oauth/RefreshProcess';
import type { RefreshOutcome } from '../support/oauth/RefreshProcess';
import type { Point } from '../support/oauth/refreshChild';
import { seededRandom } from '../../scripts/seed/seededRandom';

const PROCESSES = 4;
const CALLERS = 25;
const ROUNDS = 20;
const SEED = Number(process.env['BOLIDE_SEED'] ?? 20_260_101);
/**
 * In milliseconds. Shorter than the defaults, so that no test waits long for a dead process, but long enough for a live
 * process on a busy machine.
 */
const LEASES = { claimed: 400, sent: 6_000 };
/** A pause of the holder, well within its lease. In milliseconds. */
const NAP = 500;

interface Fault {
  readonly point: Point;
  readonly how: 'kill' | 'stop' | 'stop briefly';
}

/** Faults before the server has consumed the holder's token. They must have no visible effect. */
const FAULTS: readonly (Fault | undefined)[] = [
  { point: 'claimed', how: 'stop' },
  { point: 'sent', how: 'kill' },
  { point: 'claimed', how: 'kill' },
  { point: 'sent', how: 'stop' },
  { point: 'answered', how: 'stop briefly' },
  undefined,
];

describe(`refreshing by ${PROCESSES} processes`, function () {
  this.timeout(600_000);
  let mongo: TestMongo;
  let app: ProvidersHost;
  let bundle: string;
  let children: RefreshProcess[];
  let server: TestAuthorizationServer;

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
    server = await TestAuthorizationServer.start({ redirectUris: [`${app.url}/oauth/callback`], reuseGraceMs });
    if ((await app.module.service.find(PROVIDER_ID)) !== undefined) await app.module.service.remove(PROVIDER_ID);
    await createProvider(app, server);
    expect((await connectAs(app, 'alice')).page.status).to.equal(200);
  };

  /** Expires the token and requests it in every process. The first process to reach the fault's point is struck. */
  const round = async (fault: Fault | undefined): Promise<readonly RefreshOutcome[]> => {
    await app.expire(PROVIDER_ID, 'alice');
    const struck = deferred<RefreshProcess>();
    let victim: RefreshProcess | undefined;
    for (const child of children) {
      child.onReached = (point) => {
        if (victim !== undefined || point !== fault?.point) {
          child.resume();
          return;
        }
        victim = child;
        strike(child, fault.how);
        struck.resolve(child);
      };
    }
    const requests = children.map((child) => ({ child, outcome: child.requestTokens(PROVIDER_ID, 'alice', CALLERS) }));
    if (fault?.how === 'stop') {
      const stopped = await struck.promise;
      await Promise.all(requests.filter(({ child }) => child !== stopped).map(({ outcome }) => outcome));
      stopped.wake();
    }
    const outcomes = await Promise.all(requests.map(({ outcome }) => outcome));
    children = await Promise.all(children.map(async (child) => (child.isAlive ? child : startChild())));
    return outcomes.filter((each) => each !== undefined);
  };

  it(`sends one request for each of ${ROUNDS} expiries, and loses no grant`, async () => {
    await connect(0);
    const random = seededRandom(SEED);
    let last = '';
    for (let number = 0; number < ROUNDS; number++) {
      const fault = number < FAULTS.length ? FAULTS[number] : FAULTS[Math.floor(random() * FAULTS.length)];
      const name = `round ${number} (seed ${SEED}): ${fault === undefined ? 'no fault' : `${fault.how} at ${fault.point}`}`;
      const before = server.tokenRequests.length;
      const outcomes = await round(fault);
      expect(
        outcomes.flatMap(({ errors }) => errors),
        name,
      ).to.deep.equal([]);
      const tokens = new Set(outcomes.flatMap((each) => each.tokens));
      expect(tokens.size, name).to.equal(1);
      expect(
        outcomes.flatMap((each) => each.tokens),
        name,
      ).to.have.length(outcomes.length * CALLERS);
      expect(outcomes.length, name).to.equal(fault?.how === 'kill' ? PROCESSES - 1 : PROCESSES);
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
    const outcomes = await round({ point: 'answered', how: 'kill' });
    expect(outcomes.flatMap(({ errors }) => errors)).to.deep.equal([]);
    expect(new Set(outcomes.flatMap(({ tokens }) => tokens)).size).to.equal(1);
    expect(server.countGranted('refresh_token'), 'one was lost').to.equal(2);
  });

  it('requires a reconnect after such a death, if the server has no grace period', async () => {
    await connect(0);
    const outcomes = await round({ point: 'answered', how: 'kill' });
    expect(outcomes.flatMap(({ tokens }) => tokens)).to.deep.equal([]);
    const errors = outcomes.flatMap((outcome) => outcome.errors);
    expect(errors).to.have.length((PROCESSES - 1) * CALLERS);
    for (const error of errors)
      expect(error).to.include('the renewal of its token was interrupted').and.to.include('reconnect required');
    const shown = { connected: false, needsReconnect: true, reconnectReason: 'interrupted' };
    expect((await app.operations['ai.providers.list']({ userId: 'alice', source: 'http' }))[0]).to.include(shown);
    expect((await connectAs(app, 'alice')).page.status).to.equal(200);
    expect((await app.operations['ai.providers.list']({ userId: 'alice', source: 'http' }))[0]).not.to.have.property(
      'reconnectReason',
    );
    expect((await round(undefined)).flatMap((outcome) => outcome.errors)).to.deep.equal([]);
  });

  it('does not let a process that was paused beyond its lease replace a newer token', async () => {
    await connect(60_000);
    const outcomes = await round({ point: 'answered', how: 'stop' });
    expect(outcomes.flatMap(({ errors }) => errors)).to.deep.equal([]);
    const tokens = new Set(outcomes.flatMap((each) => each.tokens));
    expect(tokens.size, 'the paused process has the newer token too').to.equal(1);
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
    for (const child of children) child.onReached = () => child.resume();
    const before = server.tokenRequests.length;
    // Long leases, for a busy machine: no process dies in this test.
    const refreshLeases = { claimed: 30_000, sent: 120_000 };
    const modules = [app.createModule({ refreshLeases }), app.createModule({ refreshLeases })];
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
});

function strike(child: RefreshProcess, how: Fault['how']): void {
  if (how === 'kill') void child.kill();
  else child.stop();
  // Part of the lease of the `answered` phase remains when it wakes.
  if (how === 'stop briefly') setTimeout(() => child.wake(), NAP);
}
