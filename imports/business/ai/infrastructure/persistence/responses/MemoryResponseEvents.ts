/** The streams of background responses in this process's memory. Users who have too many lose their oldest. */
import { FairLruMap } from '../../../domain/util/FairLruMap';
import type { FairLimits } from '../../../domain/util/FairLruMap';
import type {
  BackgroundRecord,
  LeasedResponse,
  ResponseEventStore,
  ResponseKey,
} from '../../../domain/interfaces/ResponseEventStore';
import { omitUndefined } from '../../../domain/util/omitUndefined';

interface Recorded {
  readonly isStream: boolean;
  readonly frames: string[];
  characters: number;
  aliveAt: number;
  isCancelled: boolean;
  /** What a process's memory holds ends with the process, so that nobody else can claim it. */
  owner: string | undefined;
}

/** Sizes in characters. */
const LIMITS: FairLimits = {
  entries: 1_000,
  entriesPerUser: 200,
  size: 256 * 1024 * 1024,
  sizePerUser: 32 * 1024 * 1024,
};

export class MemoryResponseEvents implements ResponseEventStore {
  private readonly records = new FairLruMap<Recorded>(LIMITS, { sizeOf: ({ characters }) => characters });

  open(key: ResponseKey, isStream: boolean, work?: { readonly owner: string }): Promise<void> {
    const { userId, id } = key;
    const record = { isStream, frames: [], characters: 0, aliveAt: Date.now(), isCancelled: false };
    this.records.set(userId, id, { ...record, owner: work?.owner });
    return Promise.resolve();
  }

  find(key: ResponseKey): Promise<BackgroundRecord | undefined> {
    const record = this.records.get(key.userId, key.id);
    if (record === undefined) return Promise.resolve(undefined);
    const { isStream, aliveAt, owner } = record;
    return Promise.resolve(omitUndefined({ isStream, aliveAt, owner }));
  }

  append(key: ResponseKey, first: number, frames: readonly string[]): Promise<boolean> {
    const record = this.records.get(key.userId, key.id);
    if (record === undefined || record.frames.length !== first) return Promise.resolve(false);
    record.frames.push(...frames);
    record.characters += frames.reduce((sum, { length }) => sum + length, 0);
    record.aliveAt = Date.now();
    this.records.set(key.userId, key.id, record);
    return Promise.resolve(true);
  }

  read(key: ResponseKey, after: number): Promise<readonly string[]> {
    return Promise.resolve(this.records.get(key.userId, key.id)?.frames.slice(after + 1) ?? []);
  }

  confirm(keys: readonly ResponseKey[]): Promise<readonly ResponseKey[]> {
    return Promise.resolve(
      keys.filter((key) => {
        const record = this.records.get(key.userId, key.id);
        if (record !== undefined) record.aliveAt = Date.now();
        return record?.isCancelled !== false;
      }),
    );
  }

  cancel(key: ResponseKey): Promise<void> {
    const record = this.records.get(key.userId, key.id);
    if (record !== undefined) record.isCancelled = true;
    return Promise.resolve();
  }

  remove(key: ResponseKey): Promise<void> {
    this.records.delete(key.userId, key.id);
    return Promise.resolve();
  }

  leased(): Promise<readonly LeasedResponse[]> {
    return Promise.resolve([]);
  }

  claim(): Promise<boolean> {
    return Promise.resolve(false);
  }

  release(key: ResponseKey): Promise<void> {
    const record = this.records.get(key.userId, key.id);
    if (record !== undefined) record.owner = undefined;
    return Promise.resolve();
  }
}
