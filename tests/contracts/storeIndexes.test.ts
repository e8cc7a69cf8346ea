/** What a host has its database index: nothing that grows is read whole, and nothing stays for longer than it may. */
import { expect } from 'chai';
import type { DocumentCollection } from '../../imports/database/DocumentCollection';
import { userDocumentsOf } from '../../imports/database/StoredCollection';
import type { Ownership } from '../../imports/database/StoredCollection';
import { COLLECTIONS } from '../../imports/host/collections';
import { QUICK_DATABASES } from '../support/documentDatabases';
import type { TestDatabase } from '../support/documentDatabases';
import { FilledHost } from '../support/FilledHost';

type Index = Parameters<DocumentCollection<never>['ensureIndex']>;

const DAY = 86_400;

/** Seconds after which a document goes, counted from a field of it. */
const FORGOTTEN: Readonly<Record<string, readonly [field: string, seconds: number]>> = {
  ai_api_tokens: ['purgeAt', 0],
  ai_audit: ['expiresAt', 0],
  ai_authorizations: ['expiresAt', 3_600],
  ai_background_calls: ['startedAt', 10 * DAY],
  ai_batch_requests: ['expiresAt', 0],
  ai_batches: ['changedAt', 30 * DAY],
  ai_budgets: ['expiresAt', 0],
  ai_chat_turns: ['answeredAt', DAY],
  ai_chats: ['updatedAt', 30 * DAY],
  ai_conversation_items: ['usedAt', 30 * DAY],
  ai_conversations: ['usedAt', 30 * DAY],
  ai_deltas: ['createdAt', 3_600],
  ai_identities: ['expiresAt', 0],
  ai_memories: ['expiresAt', 0],
  ai_messages: ['storedAt', 30 * DAY],
  ai_provider_usage: ['expiresAt', 0],
  ai_rate_windows: ['expiresAt', 0],
  ai_request_bodies: ['expiresAt', 0],
  ai_requests: ['expiresAt', 0],
  ai_response_cache: ['expiresAt', 0],
  ai_response_events: ['storedAt', DAY],
  ai_responses: ['usedAt', 30 * DAY],
  ai_run_commands: ['createdAt', 7 * DAY],
  ai_run_owners: ['seenAt', DAY],
  ai_server_jobs: ['expiresAt', 0],
  ai_sessions: ['expiresAt', 0],
  ai_sign_in_states: ['expiresAt', 0],
  ai_stats: ['date', 90 * DAY],
  ai_token_rates: ['expiresAt', 0],
  ai_tool_tasks: ['aliveAt', DAY],
  ai_user_batches: ['expiresAt', 0],
  ai_vendor_objects: ['seenAt', 30 * DAY],
};

/** Small collections, and one that only processes that share a database have. */
const READ_WHOLE: readonly string[] = ['ai_providers', 'ai_authorizations', 'ai_run_commands', 'ai_run_events'];

interface FilteredList {
  /** Newest first, by this field. */
  readonly order: string;
  /** Each has an index of its own. */
  readonly filters: readonly string[];
  /** The index of the order has these, so that no document is read for them. */
  readonly scanned?: readonly string[];
}

/** The lists that people filter. */
const LISTS: Readonly<Record<string, FilteredList>> = {
  ai_requests: {
    order: 'at',
    filters: ['userId', 'executionId', 'words'],
    scanned: ['state', 'source', 'api', 'providerId', 'model', 'requestedModel', 'tokenId', 'team'],
  },
  ai_audit: {
    order: 'at',
    filters: ['userId', 'tokenId', 'action', 'subject.kind', 'subject.id', 'outcome', 'words'],
  },
  ai_runs: {
    order: 'createdAt',
    filters: [
      'userId',
      'state',
      'conversationId',
      'providerId',
      'model',
      'models',
      'tools',
      'tags',
      'rating',
      'words',
      'usedWords',
    ],
  },
};

describe('The indexes of a host', () => {
  let test: FilledHost;
  const indexes = new Map<string, Index[]>();
  before(async () => {
    const [open] = Object.values(QUICK_DATABASES);
    test = await FilledHost.start(async () => recording(await open!(), indexes));
  });
  after(() => test.stop());

  const keysOf = (collection: string): readonly (readonly string[])[] =>
    (indexes.get(collection) ?? []).map(([keys]) => Object.keys(keys));

  it('forget what has a time to stay, and nothing else', () => {
    const found = [...indexes].flatMap(([collection, of]) =>
      of.flatMap(([keys, { expireAfterSeconds } = {}]) =>
        expireAfterSeconds === undefined ? [] : [[collection, [Object.keys(keys)[0], expireAfterSeconds]] as const],
      ),
    );
    expect(Object.fromEntries(found)).to.deep.equal(FORGOTTEN);
  });

  // Admins are few, and who has written what is asked only when one is deleted.
  for (const { kind, collection, owner } of userDocumentsOf(COLLECTIONS).filter((each) => each.author === undefined)) {
    const field = fieldOf(owner);
    if (field === undefined || field === '_id' || READ_WHOLE.includes(collection)) continue;
    it(`find the ${kind} of a user in ${collection} by ${field}`, () => {
      expect(keysOf(collection).map(([first]) => first)).to.include(field);
    });
  }

  for (const [collection, { order, filters, scanned = [] }] of Object.entries(LISTS)) {
    for (const filter of filters)
      it(`show ${collection} of one ${filter} in their order`, () => {
        expect(keysOf(collection).map((keys) => keys.join())).to.include([filter, order, '_id'].join());
      });
    for (const filter of scanned)
      it(`read no document of ${collection} to filter by ${filter}`, () => {
        const ordered = keysOf(collection).find(([first, second]) => first === order && second === '_id');
        expect(ordered).to.include(filter);
      });
  }
});

/** @returns undefined if they are found by their ids, or by any of several fields */
function fieldOf(owner: Ownership): string | undefined {
  if ('part' in owner) return owner.part;
  return 'selector' in owner ? Object.keys(owner.selector('ann')).find((name) => !name.startsWith('$')) : undefined;
}

function recording(opened: TestDatabase, indexes: Map<string, Index[]>): TestDatabase {
  const { database } = opened;
  return {
    ...opened,
    database: {
      isExclusive: database.isExclusive,
      purge: async () => database.purge?.(),
      close: () => database.close(),
      collection: (name) => {
        const collection = database.collection<never>(name);
        const own = indexes.get(name) ?? [];
        indexes.set(name, own);
        return new Proxy(collection, {
          get: (target, property, receiver) => {
            if (property === 'ensureIndex')
              return (...index: Index) => {
                own.push(index);
                return target.ensureIndex(...index);
              };
            const value: unknown = Reflect.get(target, property, receiver);
            return typeof value === 'function' ? (value.bind(target) as unknown) : value;
          },
        });
      },
    },
  };
}
