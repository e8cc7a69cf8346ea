/** What every store of conversations does, whatever is behind it. */
import { expect } from 'chai';
import type { MemoryMessage, ConversationStore } from '../../imports/business/ai/domain/interfaces/ConversationStore';
import { MemoryConversationStore } from '../../imports/business/ai/infrastructure/persistence/conversations/MemoryConversationStore';
import {
  DocumentConversationStore,
  MESSAGES,
} from '../../imports/business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import { DATABASES } from '../support/documentDatabases';

interface OpenedStore {
  readonly store: ConversationStore;
  readonly close: () => Promise<void>;
}

/** Messages of one conversation that are told again. */
const MOST = 4;

const STORES: Readonly<Record<string, () => Promise<OpenedStore>>> = {
  memory: async () => ({ store: new MemoryConversationStore({ messages: MOST }), close: async () => undefined }),
  ...Object.fromEntries(
    Object.entries(DATABASES).map(([name, open]) => [
      name,
      async () => {
        const opened = await open();
        const store = new DocumentConversationStore(opened.database.collection(MESSAGES), MOST);
        await store.ready();
        return { store, close: () => opened.close() };
      },
    ]),
  ),
};

function said(id: string, at = Date.now()): MemoryMessage {
  return { id, role: id.startsWith('a') ? 'assistant' : 'user', text: `the text of ${id}`, at };
}

for (const [name, open] of Object.entries(STORES)) {
  describe(`a store of conversations in ${name}`, () => {
    let opened: OpenedStore;
    const history = async (userId = 'ann', conversationId = 'c'): Promise<readonly string[]> =>
      (await opened.store.getHistory(userId, conversationId)).map(({ id }) => id);
    beforeEach(async () => {
      opened = await open();
    });
    afterEach(() => opened.close());

    it('tells messages in the order in which they came, those of one millisecond too', async () => {
      const now = Date.now();
      for (const id of ['u1', 'a1', 'u2']) await opened.store.storeInput('ann', 'c', said(id, now));
      expect(await opened.store.getHistory('ann', 'c')).to.deep.equal([
        said('u1', now),
        said('a1', now),
        said('u2', now),
      ]);
    });

    it('keeps a message that comes again as it was', async () => {
      const first = said('u1');
      await opened.store.storeInput('ann', 'c', first);
      await opened.store.storeInput('ann', 'c', { ...first, text: 'another text' });
      expect(await opened.store.getHistory('ann', 'c')).to.deep.equal([first]);
    });

    it('keeps conversations apart, and those of two users under one id', async () => {
      await opened.store.storeInput('ann', 'c', said('u1'));
      await opened.store.storeInput('ann', 'd', said('u2'));
      await opened.store.storeInput('bob', 'c', said('u3'));
      expect([await history(), await history('ann', 'd'), await history('bob')]).to.deep.equal([
        ['u1'],
        ['u2'],
        ['u3'],
      ]);
      expect(await history('bob', 'd')).to.deep.equal([]);
    });

    it('tells the last messages when there are many', async () => {
      for (let index = 1; index <= MOST + 2; index += 1) await opened.store.storeInput('ann', 'c', said(`u${index}`));
      expect(await history()).to.deep.equal(['u3', 'u4', 'u5', 'u6']);
    });
  });
}
