/** The provider documents that each user's client receives: added, changed and removed. */
import { expect } from 'chai';
import { ProvidersPublication } from '../../../../../imports/business/providers/application/operations/ProvidersPublication';
import { ADMIN, ALICE, BOB, ProvidersHost } from '../../../../support/oauth/ProvidersHost';

describe('ProvidersPublication', () => {
  let app: ProvidersHost;
  beforeEach(async () => {
    app = await ProvidersHost.start();
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'open',
      name: 'Open',
      vendor: 'openai',
      auth: { kind: 'user_api_key' },
      access: 'everyone',
      defaultModel: 'm',
    });
    await app.operations['ai.providers.create'](ADMIN, {
      providerId: 'closed',
      name: 'Closed',
      vendor: 'openai',
      auth: { kind: 'api_key' },
    });
  });
  afterEach(() => app.stop());

  const publish = async (
    userId: string,
  ): Promise<{ messages: unknown[]; publication: ProvidersPublication; stop: () => void }> => {
    const messages: unknown[] = [];
    const publication = new ProvidersPublication({
      findActor: () => Promise.resolve(app.users.get(userId)),
      list: (actor) => app.module.service.list(actor),
      sink: {
        added: (id, fields) => messages.push(['added', id, fields]),
        changed: (id, fields) => messages.push(['changed', id, fields]),
        removed: (id) => messages.push(['removed', id]),
        ready: () => messages.push(['ready']),
      },
    });
    const unsubscribe = app.module.changes.subscribe(() => void publication.refresh());
    await publication.start();
    return {
      messages,
      publication,
      stop() {
        unsubscribe();
        publication.stop();
      },
    };
  };

  it('sends each user the providers they may use, with the public fields', async () => {
    const { messages, stop } = await publish('alice');
    expect(messages).to.deep.equal([
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
    alice.messages.length = bob.messages.length = 0;
    await app.operations['ai.providers.setMyApiKey'](ALICE, { providerId: 'open', apiKey: 'sk-alice' });
    await settled();
    const view = {
      name: 'Open',
      vendor: 'openai',
      auth: { kind: 'user_api_key' },
      needsReconnect: false,
      enabled: true,
    };
    expect(alice.messages).to.deep.equal([['changed', 'open', { ...view, connected: true, defaultModel: 'm' }]]);
    expect(bob.messages).to.deep.equal([]);
    await app.operations['ai.providers.update'](ADMIN, { providerId: 'open', defaultModel: null });
    await settled();
    expect(bob.messages).to.deep.equal([['changed', 'open', { ...view, connected: false, defaultModel: undefined }]]);
    await app.operations['ai.providers.update'](ADMIN, { providerId: 'closed', access: 'everyone' });
    await settled();
    expect(bob.messages.at(-1)).to.deep.equal([
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
    await app.operations['ai.providers.remove'](ADMIN, { providerId: 'open' });
    await settled();
    expect(bob.messages.at(-1)).to.deep.equal(['removed', 'open']);
    expect(alice.messages.at(-1)).to.deep.equal(['removed', 'open']);
    alice.stop();
    bob.stop();
  });

  it('removes all providers of a user who was deleted or lost access', async () => {
    const { messages, publication, stop } = await publish('root');
    app.users.set('root', { ...ADMIN, isAdmin: false });
    await publication.refresh();
    expect(messages.at(-1)).to.deep.equal(['removed', 'closed']);
    app.users.delete('root');
    await publication.refresh();
    expect(messages.at(-1)).to.deep.equal(['removed', 'open']);
    stop();
  });

  it('sends nothing twice, and nothing after it was stopped', async () => {
    const { messages, publication, stop } = await publish('bob');
    const before = messages.length;
    await Promise.all(Array.from({ length: 10 }, () => publication.refresh()));
    expect(messages).to.have.length(before);
    stop();
    await app.operations['ai.providers.setMyApiKey'](BOB, { providerId: 'open', apiKey: 'sk-bob' });
    await publication.refresh();
    expect(messages).to.have.length(before);
  });
});
