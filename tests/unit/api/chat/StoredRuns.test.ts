/** How followers learn of what other processes change, whatever becomes of the store's answers. */
import { expect } from 'chai';
import { StoredRuns } from '../../../../imports/api/chat/StoredRuns';
import { itInVirtualTime } from '../../../support/itInVirtualTime';

describe('StoredRuns', () => {
  itInVirtualTime('asks a store again that has never answered', async (time) => {
    let asked = 0;
    let changes = 0;
    const stored = new StoredRuns({
      runs: {
        load: () => Promise.resolve(undefined),
        versions: () => {
          asked += 1;
          return asked === 1 ? new Promise(() => undefined) : Promise.resolve(new Map([['run', 'changed']]));
        },
      },
      loop: { local: { has: () => false } },
    });
    const stop = stored.onChange('run', 'read', () => (changes += 1));
    await time.pass(5_000);
    expect([asked, changes], 'a slow store is asked once').to.deep.equal([1, 0]);
    await time.pass(60_000);
    expect([asked > 1, changes > 0]).to.deep.equal([true, true]);
    stop();
  });
});
