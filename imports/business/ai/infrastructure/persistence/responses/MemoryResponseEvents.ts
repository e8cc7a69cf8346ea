/** The streams of background responses in this process's memory; the oldest are forgotten first. */
import type { BackgroundRecord, ResponseEventStore, ResponseKey } from '../../../domain/interfaces/ResponseEventStore';

interface Recorded {
  readonly isStream: boolean;
  readonly frames: string[];
  aliveAt: number;
  isCancelled: boolean;
}

const MAX_RECORDS = 1_000;

export class MemoryResponseEvents implements ResponseEventStore {
  /** Oldest first. */
  private readonly records = new Map<string, Recorded>();

  open(key: ResponseKey, isStream: boolean): Promise<void> {
    this.records.set(nameOf(key), { isStream, frames: [], aliveAt: Date.now(), isCancelled: false });
    for (const oldest of this.records.keys()) {
      if (this.records.size <= MAX_RECORDS) break;
      this.records.delete(oldest);
    }
    return Promise.resolve();
  }

  find(key: ResponseKey): Promise<BackgroundRecord | undefined> {
    return Promise.resolve(this.records.get(nameOf(key)));
  }

  append(key: ResponseKey, first: number, frames: readonly string[]): Promise<boolean> {
    const record = this.records.get(nameOf(key));
    if (record === undefined || record.frames.length !== first) return Promise.resolve(false);
    record.frames.push(...frames);
    record.aliveAt = Date.now();
    return Promise.resolve(true);
  }

  read(key: ResponseKey, after: number): Promise<readonly string[]> {
    return Promise.resolve(this.records.get(nameOf(key))?.frames.slice(after + 1) ?? []);
  }

  confirm(keys: readonly ResponseKey[]): Promise<readonly ResponseKey[]> {
    return Promise.resolve(
      keys.filter((key) => {
        const record = this.records.get(nameOf(key));
        if (record !== undefined) record.aliveAt = Date.now();
        return record?.isCancelled !== false;
      }),
    );
  }

  cancel(key: ResponseKey): Promise<void> {
    const record = this.records.get(nameOf(key));
    if (record !== undefined) record.isCancelled = true;
    return Promise.resolve();
  }

  remove(key: ResponseKey): Promise<void> {
    this.records.delete(nameOf(key));
    return Promise.resolve();
  }
}

function nameOf({ userId, id }: ResponseKey): string {
  return JSON.stringify([userId, id]);
}
