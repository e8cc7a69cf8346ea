/** What callers make the server store beside responses is bounded in bytes, in every database. */
import { expect } from 'chai';
import { userMessage } from '../../imports/business/ai/domain/entities/Message';
import { TooLargeToStoreError } from '../../imports/business/ai/domain/errors/TooLargeToStoreError';
import type { ResponseConversationStore } from '../../imports/business/ai/domain/interfaces/ResponseConversationStore';
import type { ResponseEventStore } from '../../imports/business/ai/domain/interfaces/ResponseEventStore';
import { openResponseCache } from '../../imports/business/ai/infrastructure/persistence/cache/DocumentResponseCache';
import {
  CONVERSATION_ITEMS,
  openResponseConversations,
} from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseConversations';
import {
  openResponseEvents,
  RESPONSE_EVENTS,
} from '../../imports/business/ai/infrastructure/persistence/responses/DocumentResponseEvents';
import { answer } from '../../imports/testing/responses';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { failure } from '../support/failure';
import { inFlowingTime } from '../support/VirtualTime';

const BOUNDS = { perUser: 55_000, total: 1_000_000 };
/** About 10,000 bytes, with what a database adds. */
const TEXT = 'x'.repeat(9_800);

for (const [name, open] of Object.entries(QUICK_DATABASES)) {
  describe(
    `stored bytes in ${name}`,
    inFlowingTime((time) => {
      let opened: TestDatabase;
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(() => opened.close());

      describe('of conversations', () => {
        let store: ResponseConversationStore;
        beforeEach(async () => {
          store = await openResponseConversations(opened.database, BOUNDS);
        });

        const create = (userId: string, id: string): Promise<void> =>
          store.create({ id, userId, createdAt: 0, metadata: {} });
        const append = (userId: string, id: string, itemId: string) =>
          store.append(userId, id, [{ id: itemId, item: userMessage(TEXT) }], (item) => item);

        it('are bounded per user: other conversations of the user go, with their items', async () => {
          await create('bob', 'conv_0');
          await append('bob', 'conv_0', 'msg_0');
          for (let number = 0; number < 8; number += 1) {
            await create('ann', `conv_${number}`);
            await append('ann', `conv_${number}`, 'msg_0');
          }
          const found = await Promise.all(Array.from({ length: 8 }, (_, at) => store.find('ann', `conv_${at}`)));
          expect(found.filter((conversation) => conversation !== undefined)).to.have.length(5);
          expect(found.at(-1)).not.to.equal(undefined);
          expect((await store.history('bob', 'conv_0'))?.items).to.have.length(1);
          expect(await opened.database.collection(CONVERSATION_ITEMS).count({})).to.equal(6);
        });

        it('are bounded per user when the conversation that grows is the oldest, which stays', async () => {
          await create('ann', 'conv_0');
          for (let number = 1; number < 6; number += 1) {
            await time.pass(1);
            await create('ann', `conv_${number}`);
            await append('ann', `conv_${number}`, 'msg_0');
          }
          expect(await append('ann', 'conv_0', 'msg_0')).to.have.length(1);
          expect(await store.find('ann', 'conv_1')).to.equal(undefined);
          expect((await store.history('ann', 'conv_0'))?.items).to.have.length(1);
          expect(await opened.database.collection(CONVERSATION_ITEMS).count({})).to.equal(5);
        });

        it('of one conversation have a limit, which removed items leave again', async () => {
          await create('ann', 'conv_0');
          for (let number = 0; number < 5; number += 1) await append('ann', 'conv_0', `msg_${number}`);
          expect(await failure(append('ann', 'conv_0', 'msg_5'))).to.be.instanceOf(TooLargeToStoreError);
          expect((await store.history('ann', 'conv_0'))?.items).to.have.length(5);
          expect(await store.removeItem('ann', 'conv_0', 'msg_0')).to.equal(true);
          expect(await append('ann', 'conv_0', 'msg_5')).to.have.length(1);
        });

        it('of one item have a limit', async () => {
          const most = await openResponseConversations(opened.database, { perUser: Infinity, total: Infinity });
          await create('ann', 'conv_0');
          const item = { id: 'msg_0', item: userMessage('x'.repeat(15_000_000)) };
          expect(await failure(most.append('ann', 'conv_0', [item], (same) => same))).to.be.instanceOf(
            TooLargeToStoreError,
          );
        });
      });

      describe('of background streams', () => {
        let store: ResponseEventStore;
        /** Milliseconds since the epoch. */
        let now: number;
        beforeEach(async () => {
          now = Date.now();
          store = await openResponseEvents(opened.database, { bounds: BOUNDS, now: () => now });
        });

        it('are bounded per user: the first streams that have ended go, with their frames', async () => {
          const keys = Array.from({ length: 8 }, (_, number) => ({ userId: 'ann', id: `resp_${number}` }));
          for (const key of keys) {
            now += 10_000;
            await store.open(key, true);
            expect(await store.append(key, 0, [TEXT])).to.equal(true);
            // The first one is still being generated.
            await store.confirm(keys.slice(0, 1));
          }
          now += 70_000;
          await store.confirm(keys.slice(0, 1));
          const last = { userId: 'ann', id: 'resp_last' };
          await store.open(last, true);
          await store.append(last, 0, [TEXT]);
          const found = await Promise.all([...keys, last].map((key) => store.find(key)));
          expect(found.map((record) => record !== undefined)).to.deep.equal([
            ...[true, false, false, false],
            ...[true, true, true, true, true],
          ]);
          expect(await store.read(keys[1]!, -1)).to.deep.equal([]);
          expect(await opened.database.collection(RESPONSE_EVENTS).count({})).to.equal(12);
        });

        it('of one stream have a limit: what follows is not stored, and the record stays', async () => {
          const key = { userId: 'ann', id: 'resp_0' };
          await store.open(key, true);
          for (let number = 0; number < 5; number += 1) expect(await store.append(key, number, [TEXT])).to.equal(true);
          expect(await store.append(key, 5, [TEXT])).to.equal(false);
          expect(await store.read(key, -1)).to.have.length(5);
          expect(await store.find(key)).not.to.equal(undefined);
          expect(await store.confirm([key])).to.deep.equal([]);
        });
      });

      it('of cached responses are bounded per user: the oldest go', async () => {
        const cache = await openResponseCache(opened.database, { bounds: BOUNDS });
        const save = (userId: string, number: number): Promise<void> =>
          cache.save(userId, `key ${number}`, {
            storedAt: Date.now() + number,
            expiresAt: Date.now() + 3_600_000,
            response: answer(TEXT.slice(500)),
          });
        await save('bob', 0);
        for (let number = 0; number < 9; number += 1) await save('ann', number);
        const found = await Promise.all(Array.from({ length: 9 }, (_, number) => cache.find('ann', `key ${number}`)));
        const left = found.flatMap((response, number) => (response === undefined ? [] : [number]));
        expect(left.at(-1)).to.equal(8);
        expect(left).to.deep.equal(Array.from({ length: left.length }, (_, at) => 9 - left.length + at));
        expect(left.length).to.be.within(1, 5);
        expect(await cache.find('bob', 'key 0')).not.to.equal(undefined);
      });
    }),
  );
}
