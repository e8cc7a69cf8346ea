/** What each user's browser is told of providers, as documents that come, change and go. */
import { expect } from 'chai';
import { ProvidersPublication } from '../../../../../imports/business/providers/application/operations/ProvidersPublication';
import { ADMIN, ALICE, BOB, ProvidersHost } from '../../../../support/oauth/ProvidersHost';

describe('ProvidersPublication', () => {
  let app: ProvidersHost;
  beforeEach(async () => {
    app = await ProvidersHost.start();
    await app.module.operations.create(ADMIN, {
      providerId: 'open',
      name: 'Open',
      vendor: 'openai',
      auth: { kind: 'user_api_key' },
      access: 'everyone',
      defaultModel: 'm',
    });
    await app.module.operations.create(ADMIN, {
      providerId: 'closed',
      name: 'Closed',
      vendor: 'openai',
      auth: { kind: 'api_key' },
    });
  });
  afterEach(() => app.stop());

  const publish = async (
    userId: string,
  ): Promise<{ told: unknown[]; publication: ProvidersPublication; stop: () => void }> => {
    const told: unknown[] = [];
    const publication = new ProvidersPublication({
      findActor: () => Promise.resolve(app.users.get(userId)),
      list: (actor) => app.module.service.list(actor),
      sink: {
        added: (id, fields) => told.push(['added', id, fields]),
        changed: (id, fields) => told.push(['changed', id, fields]),
        removed: (id) => told.push(['removed', id]),
        ready: () => told.push(['ready']),
      },
    });
    const unsubscribe = app.module.changes.subscribe(() => void publication.refresh());
    await publication.start();
    return {
      told,
      publication,
      stop() {
        unsubscribe();
        publication.stop();
      },
    };
  };

  it('sends each user the providers they may use, with the public fields', async () => {
    const { told, stop } = await publish('alice');
    expect(told).to.deep.equal([
      [
        'added',
        'open',
        {
          name: 'Open',
          vendor: 'openai',
          auth: { kind: 'user_api_key' },
          defaultModel: 'm',
          connected: false,
          needsReconnect: false,
          enabled: true,
        },
      ],
      ['ready'],
    ]);
    stop();
  });

  it('sends changes to the users they concern', async () => {
    const [alice, bob] = [await publish('alice'), await publish('bob')];
    const settled = (): Promise<unknown> => Promise.all([alice.publication.refresh(), bob.publication.refresh()]);
    alice.told.length = bob.told.length = 0;
    await app.module.operations.setMyApiKey(ALICE, { providerId: 'open', apiKey: 'sk-alice' });
    await settled();
    const view = {
      name: 'Open',
      vendor: 'openai',
      auth: { kind: 'user_api_key' },
      needsReconnect: false,
      enabled: true,
    };
    expect(alice.told).to.deep.equal([['changed', 'open', { ...view, connected: true, defaultModel: 'm' }]]);
    expect(bob.told).to.deep.equal([]);
    await app.module.operations.update(ADMIN, { providerId: 'open', defaultModel: null });
    await settled();
    expect(bob.told).to.deep.equal([['changed', 'open', { ...view, connected: false, defaultModel: undefined }]]);
    await app.module.operations.update(ADMIN, { providerId: 'closed', access: 'everyone' });
    await settled();
    expect(bob.told.at(-1)).to.deep.equal([
      'added',
      'closed',
      {
        name: 'Closed',
        vendor: 'openai',
        auth: { kind: 'api_key' },
        connected: false,
        needsReconnect: false,
        enabled: true,
      },
    ]);
    await app.module.operations.remove(ADMIN, { providerId: 'open' });
    await settled();
    expect(bob.told.at(-1)).to.deep.equal(['removed', 'open']);
    expect(alice.told.at(-1)).to.deep.equal(['removed', 'open']);
    alice.stop();
    bob.stop();
  });

  it('removes all providers of a user who was deleted or lost access', async () => {
    const { told, publication, stop } = await publish('root');
    app.users.set('root', { ...ADMIN, isAdmin: false });
    await publication.refresh();
    expect(told.at(-1)).to.deep.equal(['removed', 'closed']);
    app.users.delete('root');
    await publication.refresh();
    expect(told.at(-1)).to.deep.equal(['removed', 'open']);
    stop();
  });

  it('sends nothing after it was stopped, and nothing twice', async () => {
    const { told, publication, stop } = await publish('bob');
    const before = told.length;
    await Promise.all(Array.from({ length: 10 }, () => publication.refresh()));
    expect(told).to.have.length(before);
    stop();
    await app.module.operations.setMyApiKey(BOB, { providerId: 'open', apiKey: 'sk-bob' });
    await publication.refresh();
    expect(told).to.have.length(before);
  });
});
