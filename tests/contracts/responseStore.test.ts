/** What every response store does, whatever its backend. */
import { expect } from 'chai';
import { userMessage } from '../../imports/business/ai/domain/entities/Message';
import type { ResponseStore, StoredResponse } from '../../imports/business/ai/domain/interfaces/ResponseStore';
import {
  DocumentResponseStore,
  RESPONSES,
} from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import type { DocumentResponseStoreOptions } from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import { MemoryResponseStore } from '../../imports/business/ai/application/services/chains/MemoryResponseStore';
import { DATABASES } from '../support/documentDatabases';
import { answer } from '../../imports/testing/responses';

interface OpenedStore {
  readonly store: ResponseStore;
  readonly close: () => Promise<void>;
}

const STORES: Readonly<Record<string, (options?: DocumentResponseStoreOptions) => Promise<OpenedStore>>> = {
  memory: async (options) => ({ store: new MemoryResponseStore(options), close: async () => undefined }),
  ...Object.fromEntries(
    Object.entries(DATABASES).map(([name, open]) => [
      name,
      async (options?: DocumentResponseStoreOptions) => {
        const opened = await open();
        const store = new DocumentResponseStore(opened.database.collection(RESPONSES), options);
        await store.ready();
        return { store, close: () => opened.close() };
      },
    ]),
  ),
};

function stored(id: string, fields: Partial<StoredResponse> = {}): StoredResponse {
  const input = [{ ...userMessage('hello'), id: `msg_of_${id}` }];
  return {
    id,
    userId: 'ann',
    providerId: 'openai',
    keptByProvider: false,
    input,
    response: answer('hi', { id }),
    ...fields,
  };
}

for (const [name, open] of Object.entries(STORES)) {
  describe(`a response store in ${name}`, () => {
    let store: ResponseStore;
    let close: () => Promise<void>;
    /** Milliseconds since the epoch. */
    let now: number;
    beforeEach(async () => {
      now = Date.now();
      ({ store, close } = await open({ maxResponses: 3, now: () => now }));
    });
    afterEach(() => close());

    it('returns the response last saved under an id', async () => {
      await store.save(stored('resp_1'));
      const later = stored('resp_1', { providerId: 'google' });
      await store.save(later);
      expect(await store.find('ann', 'resp_1')).to.deep.equal(later);
    });

    it("treats another user's id like an unknown one", async () => {
      await store.save(stored('resp_1'));
      expect(await store.find('bob', 'resp_1')).to.equal(undefined);
      expect(await store.findItem('bob', 'msg_of_resp_1')).to.equal(undefined);
      expect(await store.remove('bob', 'resp_1')).to.equal(false);
      expect(await store.find('ann', 'resp_1')).not.to.equal(undefined);
    });

    it('separates two users with the same id', async () => {
      await store.save(stored('resp_1'));
      await store.save(stored('resp_1', { userId: 'bob', providerId: 'google' }));
      await store.remove('ann', 'resp_1');
      expect(await store.find('ann', 'resp_1')).to.equal(undefined);
      expect((await store.find('bob', 'resp_1'))?.providerId).to.equal('google');
    });

    it('finds items by their ids until their response is deleted', async () => {
      await store.save(stored('resp_1'));
      expect((await store.findItem('ann', 'msg_of_resp_1'))?.item.id).to.equal('msg_of_resp_1');
      expect(await store.findItem('ann', 'msg_unknown')).to.equal(undefined);
      expect(await store.remove('ann', 'resp_1')).to.equal(true);
      expect(await store.findItem('ann', 'msg_of_resp_1')).to.equal(undefined);
      expect(await store.remove('ann', 'resp_1')).to.equal(false);
    });

    it('preserves any JSON value, whatever its keys and characters', async () => {
      const odd = stored('resp_1', { body: { 'a.b': { $set: 1 }, '': [null, '\ud83d\ude00', '\u0000'] } });
      await store.save(odd);
      expect(await store.find('ann', 'resp_1')).to.deep.equal(odd);
    });

    it('evicts the user’s least recently used responses when there are too many, and none of other users', async () => {
      await store.save(stored('resp_of_bob', { userId: 'bob' }));
      for (const id of ['resp_1', 'resp_2', 'resp_3', 'resp_4', 'resp_5', 'resp_6']) {
        now += 1;
        await store.save(stored(id));
      }
      expect(await store.find('ann', 'resp_1')).to.equal(undefined);
      expect(await store.find('ann', 'resp_6')).not.to.equal(undefined);
      if (name !== 'memory') expect(await store.find('bob', 'resp_of_bob')).not.to.equal(undefined);
    });

    it('removes responses that were not used for 30 days, and no others', async () => {
      const day = 24 * 3_600_000;
      await store.save(stored('resp_1'));
      await store.save(stored('resp_2'));
      now += 20 * day;
      await store.find('ann', 'resp_1');
      now += 20 * day;
      expect(await store.find('ann', 'resp_1')).not.to.equal(undefined);
      expect(await store.find('ann', 'resp_2')).to.equal(undefined);
    });
  });
}
