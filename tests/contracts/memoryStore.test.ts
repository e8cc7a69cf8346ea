/** What every conversation store does, whatever its backend. */
import { expect } from 'chai';
import type { MemoryMessage, ConversationStore } from '../../imports/business/ai/domain/interfaces/ConversationStore';
import { MemoryConversationStore } from '../../imports/business/ai/infrastructure/persistence/conversations/MemoryConversationStore';
import {
  DocumentConversationStore,
  MESSAGES,
} from '../../imports/business/ai/infrastructure/persistence/conversations/DocumentConversationStore';
import { DATABASES } from '../support/documentDatabases';
import { inFlowingTime } from '../support/VirtualTime';

interface OpenedStore {
  readonly store: ConversationStore;
  readonly close: () => Promise<void>;
}

/** Maximum number of messages that are returned of one conversation. */
const MAX_MESSAGES = 4;

const STORES: Readonly<Record<string, () => Promise<OpenedStore>>> = {
  memory: async () => ({
    store: new MemoryConversationStore({ messages: MAX_MESSAGES }),
    close: async () => undefined,
  }),
  ...Object.fromEntries(
    Object.entries(DATABASES).map(([name, open]) => [
      name,
      async () => {
        const opened = await open();
        const store = new DocumentConversationStore(opened.database.collection(MESSAGES), MAX_MESSAGES);
        await store.ready();
        return { store, close: () => opened.close() };
      },
    ]),
  ),
};

function userMessage(id: string, at = Date.now()): MemoryMessage {
  return { id, role: id.startsWith('a') ? 'assistant' : 'user', text: `the text of ${id}`, at };
}

for (const [name, open] of Object.entries(STORES)) {
  describe(
    `a conversation store in ${name}`,
    inFlowingTime(() => {
      let opened: OpenedStore;
      const history = async (userId = 'ann', conversationId = 'c'): Promise<readonly (string | undefined)[]> =>
        (await opened.store.getHistory(userId, conversationId)).map(({ id }) => id);
      beforeEach(async () => {
        opened = await open();
      });
      afterEach(() => opened.close());

      it('returns messages in order of arrival, even within one millisecond', async () => {
        const now = Date.now();
        for (const id of ['u1', 'a1', 'u2']) await opened.store.storeInput('ann', 'c', userMessage(id, now));
        expect(await opened.store.getHistory('ann', 'c')).to.deep.equal([
          userMessage('u1', now),
          userMessage('a1', now),
          userMessage('u2', now),
        ]);
      });

      it('leaves a message unchanged when it is stored again', async () => {
        const first = userMessage('u1');
        await opened.store.storeInput('ann', 'c', first);
        await opened.store.storeInput('ann', 'c', { ...first, text: 'another text' });
        expect(await opened.store.getHistory('ann', 'c')).to.deep.equal([first]);
      });

      it('separates conversations, even those of two users with the same id', async () => {
        await opened.store.storeInput('ann', 'c', userMessage('u1'));
        await opened.store.storeInput('ann', 'd', userMessage('u2'));
        await opened.store.storeInput('bob', 'c', userMessage('u3'));
        expect([await history(), await history('ann', 'd'), await history('bob')]).to.deep.equal([
          ['u1'],
          ['u2'],
          ['u3'],
        ]);
        expect(await history('bob', 'd')).to.deep.equal([]);
      });

      it('returns only the last messages when there are many', async () => {
        for (let index = 1; index <= MAX_MESSAGES + 2; index += 1)
          await opened.store.storeInput('ann', 'c', userMessage(`u${index}`));
        expect(await history()).to.deep.equal(['u3', 'u4', 'u5', 'u6']);
      });
    }),
  );
}
