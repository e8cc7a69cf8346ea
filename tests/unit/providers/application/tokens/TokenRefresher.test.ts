/**
 * One refresh for all callers: two processes over one store, with pauses, crashes, lost responses and wrong clocks at
 * the worst moments.
 */
import { expect } from 'chai';
import {
  LLMAuthError,
  LLMConnectionError,
  LLMRateLimitError,
} from '../../../../../imports/business/ai/domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from '../../../../../imports/database/DocumentCollection';
import { OAuthRefusal } from '../../../../../imports/business/providers/domain/interfaces/AuthorizationServer';
import { StoreError } from '../../../../../imports/database/databaseErrors';
import { createProvidersModule } from '../../../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import type { ProvidersModule } from '../../../../../imports/business/providers/infrastructure/factories/createProvidersModule';
import type { CredentialDocument } from '../../../../../imports/business/providers/infrastructure/persistence/createCredentialStore';
import { deferred } from '../../../../support/deferred';
import { failure } from '../../../../support/failure';
import { createFlowDependencies } from '../../../../support/oauth/flowDependencies';
import { ManualClock } from '../../../../support/oauth/ManualClock';
import { ADMIN, ProvidersHost } from '../../../../support/oauth/ProvidersHost';
import { ScriptedServer } from '../../../../support/oauth/ScriptedServer';
import { until } from '../../../../support/until';

const LEASES = { claimed: 5_000, sent: 20_000 };
const MINUTE = 60_000;

describe('TokenRefresher', () => {
  let app: ProvidersHost;
  let server: ScriptedServer;
  let clock: ManualClock;
  beforeEach(async () => {
    server = new ScriptedServer();
    clock = new ManualClock();
    app = await ProvidersHost.start({
      servers: { oauth2: server, key_exchange: server },
      clock,
      refreshLeases: LEASES,
    });
    clock.idle = app.idle;
    const auth = {
      kind: 'oauth_user',
      issuer: 'https://server.example',
      discovery: 'none',
      authorizationEndpoint: 'https://server.example/auth',
      tokenEndpoint: 'https://server.example/token',
      clientId: 'x',
    };
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'p',
      name: 'P',
      vendor: 'openai',
      access: 'everyone',
      auth,
    });
    await connect(clock.now() - 1);
  });
  afterEach(() => app.stop());

  const connect = async (expiresAt: number | undefined, refreshToken = 'refresh-0'): Promise<void> => {
    const { vault, providers } = createFlowDependencies(app, { clock });
    const content = { type: 'tokens', accessToken: 'access-0', refreshToken } as const;
    await vault.put(
      (await providers.find('p'))!,
      'oauth',
      'alice',
      content,
      expiresAt === undefined ? {} : { expiresAt },
    );
  };
  const connectWithoutRefreshToken = async (expiresAt: number): Promise<void> => {
    const { vault, providers } = createFlowDependencies(app, { clock });
    await vault.put(
      (await providers.find('p'))!,
      'oauth',
      'alice',
      { type: 'tokens', accessToken: 'access-0' },
      { expiresAt },
    );
  };
  const getToken = async (
    module: ProvidersModule,
    more: { forceRefresh?: boolean; refusedToken?: string } = {},
  ): Promise<string | undefined> =>
    (await module.credentials.getAccessToken({ providerId: 'p', userId: 'alice', ...more }))?.token;
  const row = async (): Promise<CredentialDocument> => (await app.credentials.findOne({ userId: 'alice' }))!;
  const events = (): string[] => app.log.map(({ event }) => event).filter((event) => event.startsWith('refresh:'));

  /** A process that pauses at a point of its refresh until it is resumed. */
  const pauseAt = (point: 'beforeSend' | 'beforeAnswer'): { readonly reached: Promise<void>; wake: () => void } => {
    const [reached, woken] = [deferred(), deferred()];
    server[point] = () => {
      server[point] = () => Promise.resolve();
      reached.resolve();
      return woken.promise;
    };
    return { reached: reached.promise, wake: () => woken.resolve() };
  };

  it('refreshes once for two processes with fifty callers each', async () => {
    const other = app.createModule();
    const tokens = await Promise.all(
      Array.from({ length: 100 }, (_value, index) => getToken(index % 2 === 0 ? app.module : other)),
    );
    expect(new Set(tokens)).to.deep.equal(new Set(['access-1']));
    expect(server.shown).to.deep.equal(['refresh-0']);
  });

  it('shares one promise among the callers of a process, without polling the store', async () => {
    const paused = pauseAt('beforeAnswer');
    const promises = Array.from({ length: 50 }, () => getToken(app.module));
    await paused.reached;
    await turns();
    paused.wake();
    expect(new Set(await Promise.all(promises))).to.deep.equal(new Set(['access-1']));
    expect(clock.sleeps).to.equal(0);
  });

  it('refreshes one minute before expiry, and not a second earlier', async () => {
    await connect(clock.now() + MINUTE + 1_000);
    expect(await getToken(app.module)).to.equal('access-0');
    clock.advance(1_000);
    expect(await getToken(app.module)).to.equal('access-1');
  });

  it('refreshes a token without an expiry only by force', async () => {
    await connect(undefined);
    clock.advance(365 * 24 * 60 * MINUTE);
    expect(await getToken(app.module)).to.equal('access-0');
    expect(await getToken(app.module, { forceRefresh: true })).to.equal('access-1');
  });

  it('uses a token that no refresh token comes with until it expires, and then requires a reconnect', async () => {
    await connectWithoutRefreshToken(clock.now() + 10 * MINUTE);
    const { version } = await row();
    for (const step of [9 * MINUTE, MINUTE / 2, MINUTE / 2 - 1]) {
      clock.advance(step);
      expect(await getToken(app.module)).to.equal('access-0');
    }
    expect(await row(), 'untouched').to.include({ state: 'ready', version });
    clock.advance(1);
    const message = 'The connection to "P" has expired, and its server issued no token to renew it.';
    for (const module of [app.module, app.createModule()])
      expect(await failure(getToken(module)))
        .to.be.instanceOf(LLMAuthError)
        .with.property('message')
        .that.includes(message)
        .and.includes('reconnect required');
    expect(await row()).to.include({ state: 'reconnect_required', reconnectReason: 'expired' });
    expect(server.shown).to.deep.equal([]);
  });

  it('requires a reconnect if the vendor rejects such a token before it expires', async () => {
    await connectWithoutRefreshToken(clock.now() + 10 * MINUTE);
    const refused = { forceRefresh: true, refusedToken: 'access-0' };
    expect(await failure(getToken(app.module, refused))).to.be.instanceOf(LLMAuthError);
    expect(await row()).to.include({ state: 'reconnect_required', reconnectReason: 'refused' });
  });

  it('does not take a server that could not be reached for an answer that was lost', async () => {
    const cause = Object.assign(new Error('connect ECONNREFUSED 127.0.0.1:1'), { code: 'ECONNREFUSED' });
    server.beforeSend = () => Promise.reject(new LLMConnectionError('down', { cause }));
    expect(await failure(getToken(app.module))).to.be.instanceOf(LLMConnectionError);
    expect(await row()).not.to.have.property('isUnanswered');
    server.beforeSend = () => Promise.reject(new OAuthRefusal('invalid_grant'));
    expect(await failure(getToken(app.module))).to.be.instanceOf(LLMAuthError);
    expect(await row()).to.include({ reconnectReason: 'refused' });
  });

  it('remembers an answer that was lost, however many processes fail after it', async () => {
    const [lost, killed] = [pauseAt('beforeAnswer'), deferred()];
    void getToken(app.module);
    await lost.reached;
    clock.advance(LEASES.sent + 1_000);
    // The next one dies as well, before it has sent anything.
    server.beforeSend = () => {
      killed.resolve();
      return new Promise(() => undefined);
    };
    void getToken(app.createModule());
    await killed.promise;
    clock.advance(LEASES.sent + 1_000);
    server.beforeSend = () => Promise.reject(new LLMRateLimitError('slow down', { status: 429 }));
    expect(await failure(getToken(app.createModule()))).to.be.instanceOf(LLMRateLimitError);
    server.beforeSend = () => Promise.resolve();
    expect(await failure(getToken(app.createModule())))
      .to.have.property('message')
      .that.includes('was interrupted before the new token was stored');
    expect(await row()).to.include({ state: 'reconnect_required', reconnectReason: 'interrupted' });
    await connect(clock.now() - 1, 'refresh-1');
    expect(await row()).not.to.have.any.keys('reconnectReason', 'isUnanswered');
  });

  it('waits for another process’s refresh, however long its request takes', async () => {
    const paused = pauseAt('beforeAnswer');
    const first = getToken(app.module);
    await paused.reached;
    const second = getToken(app.createModule());
    clock.advance(LEASES.claimed * 2);
    await turns();
    paused.wake();
    expect(await Promise.all([first, second])).to.deep.equal(['access-1', 'access-1']);
    expect(server.shown).to.deep.equal(['refresh-0']);
  });

  it('takes over from a process that died before it sent the token', async () => {
    await app.credentials.update(
      { userId: 'alice' },
      { $set: { leasePhase: 'claimed', leaseUntil: clock.now() + LEASES.claimed }, $inc: { version: 1 } },
    );
    const from = clock.elapsed();
    expect(await getToken(app.module)).to.equal('access-1');
    expect(clock.elapsed() - from).to.be.within(LEASES.claimed, LEASES.claimed + 1_000);
    expect(events()).to.include('refresh:taken-over');
  });

  it('waits longer for a process that may have sent the token', async () => {
    await app.credentials.update(
      { userId: 'alice' },
      { $set: { leasePhase: 'sent', leaseUntil: clock.now() + LEASES.sent }, $inc: { version: 1 } },
    );
    const from = clock.elapsed();
    expect(await getToken(app.module)).to.equal('access-1');
    expect(clock.elapsed() - from).to.be.within(LEASES.sent, LEASES.sent + 1_000);
  });

  it('does not wait for a process that died long ago', async () => {
    await app.credentials.update(
      { userId: 'alice' },
      { $set: { leasePhase: 'sent', leaseUntil: clock.now() - 11 * MINUTE }, $inc: { version: 1 } },
    );
    const from = clock.elapsed();
    expect(await getToken(app.module)).to.equal('access-1');
    expect(clock.elapsed()).to.equal(from);
  });

  it('does not let a paused process send a token that another has used up', async () => {
    const paused = pauseAt('beforeSend');
    const first = getToken(app.module);
    await paused.reached;
    expect(await getToken(app.createModule()), 'another takes over').to.equal('access-1');
    paused.wake();
    expect(await first).to.equal('access-1');
    expect(server.shown).to.deep.equal(['refresh-0']);
    expect(server.isDead).to.equal(false);
  });

  it('does not let a late response overwrite a newer token', async () => {
    server.isStrict = false;
    const paused = pauseAt('beforeAnswer');
    const first = getToken(app.module);
    await paused.reached;
    // The server accepted the used token again, as servers with a grace period do.
    const { vault } = createFlowDependencies(app, { clock });
    const there = (await vault.store.find(await row()))!;
    const newer = { type: 'tokens', accessToken: 'access-of-another', refreshToken: 'refresh-of-another' } as const;
    await vault.store.change(there, {
      box: vault.seal(there, newer),
      generation: there.generation + 1,
      expiresAt: clock.now() + 60 * MINUTE,
      lease: null,
    });
    paused.wake();
    expect(await first).to.equal('access-of-another');
    expect(await getToken(app.module)).to.equal('access-of-another');
    expect(events()).to.include('refresh:fenced-off');
  });

  it('stores a late response if the server rejected others because of it', async () => {
    server.isStrict = false;
    const paused = pauseAt('beforeAnswer');
    const first = getToken(app.module);
    await paused.reached;
    expect(await failure(getToken(app.createModule()))).to.be.instanceOf(LLMAuthError);
    expect((await row()).state).to.equal('reconnect_required');
    paused.wake();
    expect(await first).to.equal('access-1');
    expect(await row()).to.include({ state: 'ready', generation: 1 });
    clock.advance(120 * MINUTE);
    expect(await getToken(app.createModule())).to.equal('access-2');
  });

  it('stores a late response while another process has only claimed the lease, so the token is sent once', async () => {
    const late = pauseAt('beforeAnswer');
    const first = getToken(app.module);
    await late.reached;
    clock.advance(LEASES.sent + 1_000);
    const early = pauseAt('beforeSend');
    const second = getToken(app.createModule());
    await early.reached;
    late.wake();
    expect(await first).to.equal('access-1');
    clock.advance(2_000);
    early.wake();
    expect(await second).to.equal('access-1');
    expect(server.shown).to.deep.equal(['refresh-0']);
  });

  it('does not put a paused process’s token into a new connection of the same user', async () => {
    const paused = pauseAt('beforeAnswer');
    const first = getToken(app.module);
    await paused.reached;
    await connect(clock.now() + 60 * MINUTE, 'refresh-of-the-new-grant');
    const { grantId } = await row();
    paused.wake();
    expect(await first, 'the new connection’s token').to.equal('access-0');
    expect(await row()).to.include({ grantId, generation: 0 });
  });

  it('distinguishes a new connection from the old one, even at the same version', async () => {
    server.isStrict = false;
    const late = pauseAt('beforeAnswer');
    const first = getToken(app.module);
    await late.reached;
    const { version } = await row();
    await app.credentials.remove({ userId: 'alice' });
    await connect(clock.now() - 1, 'refresh-1');
    const next = pauseAt('beforeAnswer');
    const second = getToken(app.createModule());
    await next.reached;
    expect(await row()).to.include({ version, generation: 0 });
    late.wake();
    await turns();
    next.wake();
    expect(await Promise.all([first, second])).to.deep.equal(['access-2', 'access-2']);
    expect(events()).to.include('refresh:fenced-off');
  });

  it('revokes tokens received for a user who has disconnected meanwhile', async () => {
    const paused = pauseAt('beforeAnswer');
    const first = failure(getToken(app.module));
    await paused.reached;
    await app.credentials.remove({ userId: 'alice' });
    paused.wake();
    expect(await first).to.be.instanceOf(LLMAuthError);
    expect(server.revoked).to.deep.equal(['access-1']);
  });

  it('goes on with a token that is valid while the server cannot be reached, unless the vendor has refused it', async () => {
    await connect(clock.now() + MINUTE / 2);
    server.beforeSend = () => Promise.reject(new LLMConnectionError('no answer'));
    expect(await getToken(app.module)).to.equal('access-0');
    const refused = { forceRefresh: true, refusedToken: 'access-0' };
    expect(await failure(getToken(app.module, refused))).to.be.instanceOf(LLMConnectionError);
    clock.advance(MINUTE);
    expect(await failure(getToken(app.module))).to.be.instanceOf(LLMConnectionError);
  });

  it('releases the lease after an error, with the token unchanged', async () => {
    server.beforeSend = () => Promise.reject(new LLMConnectionError('no answer'));
    expect(await failure(getToken(app.module))).to.be.instanceOf(LLMConnectionError);
    server.beforeSend = () => Promise.resolve();
    const from = clock.elapsed();
    expect(await getToken(app.createModule())).to.equal('access-1');
    expect(clock.elapsed()).to.equal(from);
  });

  it('holds a new pair in memory and retries while the store fails', async () => {
    const module = moduleWithFailingStore();
    module.failWrites = Number.POSITIVE_INFINITY;
    server.beforeAnswer = async () => {
      module.isFailing = true;
    };
    expect(await failure(getToken(module.module))).to.be.instanceOf(LLMConnectionError);
    expect(events()).to.include('refresh:not-stored');
    expect(await row()).to.include({ generation: 0 });
    module.isFailing = false;
    expect(await getToken(module.module)).to.equal('access-1');
    expect(await row()).to.include({ generation: 1 });
    expect(server.shown, 'the used token is not shown again').to.deep.equal(['refresh-0']);
  });

  it('restores a connection that others marked as lost while it could not store its tokens', async () => {
    const module = moduleWithFailingStore();
    module.failWrites = Number.POSITIVE_INFINITY;
    server.isStrict = false;
    server.beforeAnswer = async () => {
      module.isFailing = true;
    };
    expect(await failure(getToken(module.module))).to.be.instanceOf(LLMConnectionError);
    server.beforeAnswer = () => Promise.resolve();
    expect(await failure(getToken(app.createModule()))).to.be.instanceOf(LLMAuthError);
    expect((await row()).state).to.equal('reconnect_required');
    module.isFailing = false;
    expect(await getToken(module.module)).to.equal('access-1');
    expect(await getToken(app.createModule())).to.equal('access-1');
  });

  it('stores the new pair despite a transient failure of the store', async () => {
    const module = moduleWithFailingStore();
    module.failWrites = 3;
    server.beforeAnswer = async () => {
      module.isFailing = true;
    };
    expect(await getToken(module.module)).to.equal('access-1');
    expect(server.shown).to.deep.equal(['refresh-0']);
  });

  for (const skew of [10 * MINUTE, -10 * MINUTE]) {
    it(`tolerates a server or another process whose clock is off by ${skew / MINUTE} minutes`, async () => {
      const other = skewedModule(skew);
      await connect(clock.now() - 20 * MINUTE);
      const tokens = await Promise.all([getToken(app.module), getToken(other), getToken(app.module), getToken(other)]);
      expect(new Set(tokens).size, 'one refresh').to.equal(1);
      expect(server.shown).to.have.length(1);
      const paused = pauseAt('beforeSend');
      clock.advance(120 * MINUTE);
      const first = getToken(app.module);
      await paused.reached;
      const from = clock.elapsed();
      const takeovers = (): number => events().filter((event) => event === 'refresh:taken-over').length;
      const earlier = takeovers();
      const second = getToken(other);
      // Until then, only the waiting process advances the clock.
      await until(() => takeovers() > earlier);
      const waited = clock.elapsed() - from;
      expect(waited, 'the lease ends after its time, on nobody’s clock').to.be.within(LEASES.sent, LEASES.sent + 1_000);
      paused.wake();
      const [mine, theirs] = await Promise.all([first, second]);
      expect(mine).to.equal(theirs);
      expect(server.isDead).to.equal(false);
    });

    it(`refreshes on time when its own clock is off by ${skew / MINUTE} minutes`, async () => {
      await getToken(app.module);
      clock.skew = skew;
      await getToken(app.module, { forceRefresh: true });
      clock.advance(58 * MINUTE);
      expect(await getToken(app.module)).to.equal('access-2');
      clock.advance(MINUTE);
      expect(await getToken(app.module)).to.equal('access-3');
      expect(server.shown).to.have.length(3);
    });
  }

  function skewedModule(skew: number): ProvidersModule {
    return createProvidersModule(app.settings, {
      collection: (name) => app.database.database.collection(name),
      findUser: app.module.findUser,
      probe: () => Promise.resolve({ valid: true }),
      log: app.eventLog,
      clock: new ManualClock(skew, clock),
      servers: { oauth2: server, key_exchange: server },
    });
  }

  /** Another process, whose writes fail on demand. */
  function moduleWithFailingStore(): { module: ProvidersModule; isFailing: boolean; failWrites: number } {
    const state = { isFailing: false, failWrites: 0 };
    const module = createProvidersModule(app.settings, {
      collection: <T extends StoredDocument>(name: string): DocumentCollection<T> => {
        const collection = app.database.database.collection<T>(name);
        const update: typeof collection.update = (...call) => {
          if (!state.isFailing || state.failWrites <= 0) return collection.update(...call);
          state.failWrites -= 1;
          return Promise.reject(new StoreError('the store is away'));
        };
        return {
          insert: (document) => collection.insert(document),
          insertMany: (documents) => collection.insertMany(documents),
          findOne: (...call) => collection.findOne(...call),
          find: (...call) => collection.find(...call),
          count: (selector) => collection.count(selector),
          bytes: (...call) => collection.bytes(...call),
          aggregate: (...call) => collection.aggregate(...call),
          update,
          upsertMany: (changes) => collection.upsertMany(changes),
          remove: (selector) => collection.remove(selector),
          ensureIndex: (...call) => collection.ensureIndex(...call),
        };
      },
      findUser: app.module.findUser,
      probe: () => Promise.resolve({ valid: true }),
      log: app.eventLog,
      clock,
      servers: { oauth2: server, key_exchange: server },
    });
    return Object.assign(state, { module });
  }
});

/** Waits for a few turns of the event loop, so that pending work proceeds. */
async function turns(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve));
}
