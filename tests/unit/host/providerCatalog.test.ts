import { expect } from 'chai';
import type { StoredDocument } from '../../../imports/database/DocumentCollection';
import { MeteorDatabase } from '../../../imports/database/meteor/MeteorDatabase';
import { REQUESTS } from '../../../imports/business/requestLog/infrastructure/DocumentRequestStore';
import { createProviderCatalog } from '../../../imports/host/providerCatalog';
import { resetMeteor } from '../../stubs/server/registry';
import { METEOR_PACKAGES } from '../../meteor/meteorPackages';

describe('the health of providers', () => {
  beforeEach(() => resetMeteor());
  after(() => resetMeteor());

  const healthWith = async (health: object, logged: readonly object[]): Promise<unknown> => {
    const database = new MeteorDatabase(METEOR_PACKAGES);
    for (const [index, entry] of logged.entries())
      await database
        .collection<StoredDocument>(REQUESTS)
        .insert({ _id: `r${index}`, ...{ providerId: 'a', ...entry } });
    const module = { manager: { health: () => new Map([['a', health]]) }, providers: {} };
    return (await createProviderCatalog(() => module as never, database).health()).get('a');
  };

  it('includes the last success that any process has logged', async () => {
    const logged = [
      { state: 'completed', at: 100, duration: 5 },
      { state: 'completed', at: 200, duration: 7 },
      { state: 'failed', at: 300, duration: 1 },
      { state: 'completed', at: 900, duration: 1, providerId: 'b' },
    ];
    expect(await healthWith({ circuit: 'closed' }, logged)).to.deep.equal({ circuit: 'closed', lastSuccessAt: 207 });
    resetMeteor();
    expect(await healthWith({ circuit: 'closed', lastSuccessAt: 500 }, logged)).to.include({ lastSuccessAt: 500 });
  });

  it('claims no success without evidence, and states whose call failed', async () => {
    const lastError = { at: 9, code: 'overloaded', message: 'Busy.', userId: 'ann' };
    expect(await healthWith({ circuit: 'open', opensAt: 10, lastError }, [])).to.deep.equal({
      circuit: 'open',
      opensAt: 10,
      lastError: { at: 9, code: 'overloaded', message: 'Busy.' },
      failedUserId: 'ann',
    });
  });
});
