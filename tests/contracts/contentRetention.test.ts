/** Conversations of every form are removed when they are as old as the operator wants, on every database. */
import { expect } from 'chai';
import { ChatStore, CHATS } from '../../imports/api/chat/ChatStore';
import { ContentRetention } from '../../imports/business/ai/infrastructure/persistence/ContentRetention';
import type { StoredDocument } from '../../imports/database/DocumentCollection';
import { LLMInvalidRequestError } from '../../imports/business/ai/domain/errors/LLMErrors';
import { openStores } from '../../imports/business/ai/openStores';
import { boundsFor } from '../../imports/database/bounds/StorageBounds';
import { COLLECTIONS } from '../../imports/host/collections';
import { readSettings } from '../../imports/host/settings/defineSettings';
import { jobSettings } from '../../imports/host/settings/jobSettings';
import { DATABASES } from '../support/documentDatabases';

const DAY = 86_400_000;
const FIELDS = {
  ai_responses: 'usedAt',
  ai_conversations: 'usedAt',
  ai_conversation_items: 'usedAt',
  ai_messages: 'storedAt',
  ai_chats: 'updatedAt',
};

for (const [kind, open] of Object.entries(DATABASES))
  describe(`The retention of conversations (${kind})`, () => {
    it('removes what is older than the time of its kind, and nothing else', async () => {
      const opened = await open();
      const { database } = opened;
      await openStores(database, boundsFor(database, {}));
      await new ChatStore(database.collection(CHATS)).ready();
      const now = Date.now();
      for (const [name, field] of Object.entries(FIELDS))
        for (const age of [1, 3, 8]) {
          const document = { _id: `${age}`, userId: 'u', [field]: new Date(now - age * DAY) };
          await database.collection<StoredDocument>(name).insert(document);
        }
      const left = async (): Promise<Record<string, string>> => {
        const ids: Record<string, string> = {};
        for (const name of Object.keys(FIELDS)) {
          const found = await database.collection(name).find({}, { sort: { _id: 1 } });
          ids[name] = found.map(({ _id }) => _id).join(' ');
        }
        return ids;
      };
      await new ContentRetention(database, COLLECTIONS, { times: {} }).sweep();
      expect(new Set(Object.values(await left()))).to.deep.equal(new Set(['1 3 8']));
      const times = { responses: 2 * DAY, conversations: 4 * DAY, messages: 7 * DAY, chats: DAY / 2 };
      await new ContentRetention(database, COLLECTIONS, { times }).sweep();
      expect(await left()).to.deep.equal({
        ai_responses: '1',
        ai_conversations: '1 3',
        ai_conversation_items: '1 3',
        ai_messages: '1 3',
        ai_chats: '',
      });
      await opened.close();
    });
  });

describe('settings of content times', () => {
  const read = (variables: Readonly<Record<string, string>>): unknown =>
    readSettings(jobSettings, (name) => variables[name]).contentTimes;

  it('reads days, and leaves the rest to the defaults', () => {
    expect(read({})).to.deep.equal({});
    expect(read({ RESPONSES_KEEP_DAYS: '7', CHATS_KEEP_DAYS: '1.5' })).to.deep.equal({
      responses: 7 * DAY,
      chats: 1.5 * DAY,
    });
  });

  it('names every invalid variable', () => {
    const variables = {
      RESPONSES_KEEP_DAYS: '0',
      CONVERSATIONS_KEEP_DAYS: 'long',
      MESSAGES_KEEP_DAYS: '31',
      CHATS_KEEP_DAYS: '-1',
    };
    for (const [name, value] of Object.entries(variables))
      expect(() => read({ [name]: value }))
        .to.throw(LLMInvalidRequestError, name)
        .with.property('path', name);
  });
});
