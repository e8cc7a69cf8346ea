/** Background calls in a document collection, so that another process waits for a response instead of asking anew. */
import type { BackgroundCallKey, BackgroundCallStore } from '../../../domain/interfaces/BackgroundCalls';
import type { DocumentCollection, StoredDocument } from '../../../../../database/DocumentCollection';
import type { DocumentDatabase } from '../../../../../database/DocumentDatabase';
import { hashedId } from '../../../../../database/hashedId';
import { insertNew } from '../../../../../database/insertNew';

export interface BackgroundCallDocument extends StoredDocument {
  readonly userId: string;
  readonly responseId: string;
  readonly providerId: string;
  readonly startedAt: Date;
}

export const BACKGROUND_CALLS = 'ai_background_calls';

/** Ten days: longer than a run waits for a person as a rule, and shorter than vendors keep responses. */
const TTL_SECONDS = 10 * 24 * 3_600;

/** Creates the store and its indexes. */
export async function openBackgroundCalls(
  database: Pick<DocumentDatabase, 'collection'>,
): Promise<DocumentBackgroundCalls> {
  const calls = database.collection<BackgroundCallDocument>(BACKGROUND_CALLS);
  await calls.ensureIndex({ startedAt: 1 }, { expireAfterSeconds: TTL_SECONDS });
  await calls.ensureIndex({ userId: 1 });
  return new DocumentBackgroundCalls(calls);
}

export class DocumentBackgroundCalls implements BackgroundCallStore {
  private readonly calls: DocumentCollection<BackgroundCallDocument>;

  constructor(calls: DocumentCollection<BackgroundCallDocument>) {
    this.calls = calls;
  }

  async find(key: BackgroundCallKey): Promise<string | undefined> {
    return (await this.calls.findOne({ _id: idOf(key) }))?.responseId;
  }

  async save(key: BackgroundCallKey, responseId: string): Promise<void> {
    const { userId, providerId } = key;
    const _id = idOf(key);
    const fields = { userId, providerId, responseId, startedAt: new Date() };
    if (!(await insertNew(this.calls, { _id, ...fields }))) await this.calls.update({ _id }, { $set: fields });
  }

  async remove(key: BackgroundCallKey): Promise<void> {
    await this.calls.remove({ _id: idOf(key) });
  }
}

function idOf({ userId, turn, providerId, digest }: BackgroundCallKey): string {
  return hashedId(userId, turn, providerId, digest);
}
