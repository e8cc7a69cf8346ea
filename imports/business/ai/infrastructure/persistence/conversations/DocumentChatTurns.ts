/** The messages of conversations and their answers in a document collection, which all processes share. */
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type {
  ChatOutcome,
  ChatTurn,
  ChatTurnStore,
  LeasedTurn,
  TurnState,
} from '../../../domain/interfaces/ChatTurnStore';
import { TooLargeToStoreError } from '../../../domain/errors/TooLargeToStoreError';
import { documentBytes, MAX_DOCUMENT_BYTES } from '../../../../../database/bounds/documentBytes';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';

type TurnRequest = Pick<ChatTurn, 'text' | 'model' | 'history' | 'origin'>;

export interface ChatTurnDocument extends StoredDocument {
  readonly userId: string;
  readonly conversationId: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** Orders messages of the same millisecond and process. */
  readonly place: number;
  /** JSON of a `TurnRequest`. Until the answer. */
  readonly request?: string;
  /** Until the answer. */
  readonly owner?: string;
  readonly attempts?: number;
  /** JSON of a `ChatOutcome`. */
  readonly outcome?: string;
  readonly answeredAt?: Date;
}

export const CHAT_TURNS = 'ai_chat_turns';

/** The lifetime of an answered message: 24 hours. Unanswered ones don't expire. */
const TTL_SECONDS = 24 * 3_600;
/** How many messages of a conversation are read at once. */
const MAX_READ = 100;

const OLDEST_FIRST = { at: 1, place: 1, _id: 1 } as const;
const LATEST_FIRST = { at: -1, place: -1, _id: -1 } as const;
const UNANSWERED = { owner: { $exists: true } } as const;

export async function openChatTurns(
  database: Pick<DocumentDatabase, 'collection' | 'isExclusive'>,
): Promise<ChatTurnStore> {
  const turns = database.collection<ChatTurnDocument>(CHAT_TURNS);
  await turns.ensureIndex({ answeredAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await turns.ensureIndex({ userId: 1, conversationId: 1, at: 1, place: 1, _id: 1 });
  await turns.ensureIndex({ owner: 1 }, { sparse: true });
  return new DocumentChatTurns(turns, database.isExclusive);
}

class DocumentChatTurns implements ChatTurnStore {
  readonly isExclusive: boolean;
  private readonly turns: DocumentCollection<ChatTurnDocument>;
  private lastPlace = 0;

  constructor(turns: DocumentCollection<ChatTurnDocument>, isExclusive: boolean) {
    this.turns = turns;
    this.isExclusive = isExclusive;
  }

  async add({ id, userId, conversationId, at, ...fields }: ChatTurn, owner: string): Promise<void> {
    this.lastPlace += 1;
    const request = JSON.stringify(fields);
    const bytes = documentBytes([request]);
    if (bytes > MAX_DOCUMENT_BYTES)
      throw new TooLargeToStoreError('The message, with its history,', bytes, MAX_DOCUMENT_BYTES);
    await this.turns.insert({ _id: id, userId, conversationId, at, place: this.lastPlace, request, owner });
  }

  async find(id: string): Promise<TurnState | undefined> {
    const found = await this.turns.findOne({ _id: id }, { fields: { _id: 1, userId: 1, outcome: 1 } });
    return found === undefined ? undefined : stateOf(found);
  }

  async userOf(id: string): Promise<string | undefined> {
    return (await this.turns.findOne({ _id: id, ...UNANSWERED }, { fields: { userId: 1 } }))?.userId;
  }

  async next(userId: string, conversationId: string): Promise<string | undefined> {
    const [first] = await this.turns.find(
      { userId, conversationId, ...UNANSWERED },
      { sort: OLDEST_FIRST, limit: 1, fields: { _id: 1 } },
    );
    return first?._id;
  }

  async leased(limit: number, except: readonly string[] = []): Promise<readonly LeasedTurn[]> {
    const found = await this.turns.find({ owner: { $exists: true, $nin: except } }, { sort: OLDEST_FIRST, limit });
    return found.map(({ _id: id, userId, conversationId, at, owner = '', request = '{}' }) => ({
      // This store wrote the field.
      turn: { ...(JSON.parse(request) as TurnRequest), id, userId, conversationId, at },
      owner,
    }));
  }

  async claim(id: string, from: string, to: string): Promise<boolean> {
    return (await this.turns.update({ _id: id, owner: from }, { $set: { owner: to } })) === 1;
  }

  async countAttempt(id: string): Promise<number> {
    await this.turns.update({ _id: id }, { $inc: { attempts: 1 } });
    return (await this.turns.findOne({ _id: id }))?.attempts ?? 0;
  }

  async finish(id: string, outcome: ChatOutcome): Promise<void> {
    await this.turns.update(
      { _id: id, ...UNANSWERED },
      {
        $set: { outcome: JSON.stringify(outcome), answeredAt: new Date() },
        $unset: { owner: true, request: true },
      },
    );
  }

  async since(userId: string, conversationId: string, from?: string): Promise<readonly TurnState[]> {
    const fields = { _id: 1, userId: 1, outcome: 1 } as const;
    const found = await this.turns.find({ userId, conversationId }, { sort: LATEST_FIRST, limit: MAX_READ, fields });
    const known = found.findIndex(({ _id }) => _id === from);
    const last = known === -1 ? found.findIndex(({ outcome }) => outcome !== undefined) : known;
    return (last === -1 ? found : found.slice(0, last + 1)).map(stateOf).reverse();
  }
}

function stateOf({ _id: id, outcome }: ChatTurnDocument): TurnState {
  // This store wrote the field.
  return outcome === undefined ? { id } : { id, outcome: JSON.parse(outcome) as ChatOutcome };
}
