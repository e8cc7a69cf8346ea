/** What every response store does, whatever its backend. */
import { expect } from 'chai';
import { userMessage } from '../../imports/business/ai/domain/entities/Message';
import type { ResponseStore, StoredResponse } from '../../imports/business/ai/domain/interfaces/ResponseStore';
import {
  DocumentResponseStore,
  RESPONSES,
} from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import type {
  DocumentResponseStoreOptions,
  ResponseDocument,
} from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseStore';
import { MemoryResponseStore } from '../../imports/business/ai/application/services/chains/MemoryResponseStore';
import { DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { TooLargeToStoreError } from '../../imports/business/ai/domain/errors/TooLargeToStoreError';
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

for (const [name, open] of Object.entries(DATABASES)) {
  describe(`the bytes of stored responses in ${name}`, () => {
    let opened: TestDatabase;
    /** Milliseconds since the epoch. */
    let now: number;
    beforeEach(async () => {
      now = Date.now();
      opened = await open();
    });
    afterEach(() => opened.close());

    /** Opens the store as another process does. */
    async function openStore(bounds: { readonly perUser: number; readonly total: number }): Promise<ResponseStore> {
      const options = { bounds, now: () => (now += 1) };
      const store = new DocumentResponseStore(opened.database.collection<ResponseDocument>(RESPONSES), options);
      await store.ready();
      return store;
    }

    /** About 10,000 bytes. */
    function large(userId: string, id: string): StoredResponse {
      return stored(id, { userId, body: { text: 'x'.repeat(8_900) } });
    }

    async function left(store: ResponseStore, userId: string, count: number): Promise<readonly number[]> {
      const numbers = Array.from({ length: count }, (_, number) => number);
      const found = await Promise.all(numbers.map((number) => store.find(userId, `resp_${number}`)));
      return numbers.filter((number) => found[number] !== undefined);
    }

    it('are bounded per user: the least recently used go first, whichever process stored them', async () => {
      const stores = [
        await openStore({ perUser: 55_000, total: 1_000_000 }),
        await openStore({ perUser: 55_000, total: 1_000_000 }),
      ];
      await stores[0]?.save(large('bob', 'resp_0'));
      for (let number = 0; number < 12; number += 1) await stores[number % 2]?.save(large('ann', `resp_${number}`));
      for (const store of stores) expect(await left(store, 'ann', 12)).to.deep.equal([7, 8, 9, 10, 11]);
      for (const store of stores) expect(await left(store, 'bob', 1)).to.deep.equal([0]);
    });

    it('are bounded in total: those who store the most lose first, and nobody a fair share', async () => {
      const store = await openStore({ perUser: 1_000_000, total: 105_000 });
      for (const userId of ['bob', 'cyd'])
        for (let number = 0; number < 2; number += 1) await store.save(large(userId, `resp_${number}`));
      for (let number = 0; number < 20; number += 1) await store.save(large('ann', `resp_${number}`));
      expect(await left(store, 'bob', 2)).to.deep.equal([0, 1]);
      expect(await left(store, 'cyd', 2)).to.deep.equal([0, 1]);
      expect(await left(store, 'ann', 20)).to.deep.equal([14, 15, 16, 17, 18, 19]);
    });

    it('count when a response is replaced', async () => {
      const store = await openStore({ perUser: 25_000, total: 1_000_000 });
      for (const id of ['resp_0', 'resp_1', 'resp_2']) await store.save(stored(id, { userId: 'ann' }));
      for (const id of ['resp_0', 'resp_1', 'resp_2']) expect(await store.replace(large('ann', id))).to.equal(true);
      expect(await left(store, 'ann', 3)).to.deep.equal([1, 2]);
    });

    it('count for responses of an earlier version', async () => {
      const rows = opened.database.collection<ResponseDocument>(RESPONSES);
      const store = await openStore({ perUser: 35_000, total: 1_000_000 });
      for (let number = 0; number < 3; number += 1) await store.save(large('ann', `resp_${number}`));
      await rows.update({ userId: 'ann' }, { $unset: { bytes: true } }, { multi: true });
      const next = await openStore({ perUser: 35_000, total: 1_000_000 });
      await next.save(large('ann', 'resp_3'));
      expect(await left(next, 'ann', 4)).to.deep.equal([1, 2, 3]);
      expect(await rows.count({ bytes: { $exists: false } })).to.equal(0);
    });

    it('of one response have a limit, with all its ids', async () => {
      const store = await openStore({ perUser: 20_000, total: 1_000_000 });
      expect(store.maxResponseBytes).to.equal(20_000);
      const tooLarge = stored('resp_0', { body: { text: 'ü'.repeat(10_000) } });
      const error = await failure(store.save(tooLarge));
      expect(error).to.be.instanceOf(TooLargeToStoreError);
      expect(await store.find('ann', 'resp_0')).to.equal(undefined);
      await store.save(stored('resp_0'));
      expect(await failure(store.replace(tooLarge))).to.be.instanceOf(TooLargeToStoreError);
      const many = Array.from({ length: 300 }, (_, number) => ({ ...userMessage(''), id: `msg_${number}` }));
      expect(await failure(store.save(stored('resp_1', { input: many })))).to.be.instanceOf(TooLargeToStoreError);
      const most = await openStore({ perUser: Infinity, total: Infinity });
      expect(await failure(most.save(stored('resp_2', { body: { text: 'x'.repeat(15_000_000) } })))).to.be.instanceOf(
        TooLargeToStoreError,
      );
    });
  });
}
