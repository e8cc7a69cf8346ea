import { expect } from 'chai';
import { permittedProviders } from '../../../../../imports/business/ai/application/operations/permittedProviders';

describe('permittedProviders', () => {
  it('gives no provider that the app’s policy did not name, however many it named', async () => {
    const access = {
      decide: () => Promise.resolve({ allowed: true as const }),
      permittedProviders: () => Promise.resolve(['own', 'of another host']),
    };
    const providers = [{ id: 'own' }, { id: 'secret' }];
    expect(await permittedProviders(access, { userId: 'ann', source: 'http' }, providers)).to.deep.equal([
      { id: 'own' },
    ]);
  });
});
