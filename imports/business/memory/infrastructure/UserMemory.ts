/**
 * Memories of users. Records are the truth; a user's are indexed in this process's memory when they are first searched,
 * and each search looks for what has changed, in whatever process, before it answers.
 */
import { randomUUID } from 'node:crypto';
import { invalid } from '../../ai/domain/util/arguments';
import { consoleLogger } from '../../../log/consoleLogger';
import { isLLMError } from '../../ai/domain/errors/LLMErrors';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type {
  FoundMemories,
  Memory,
  MemoryEntry,
  MemoryPage,
  MemoryQuery,
  NewMemory,
} from '../../ai/domain/interfaces/Memory';
import { MemoryIndex } from './MemoryIndex';
import type { MemoryHead, MemoryRecord, MemoryRecords } from './MemoryRecords';
import { decodeVector, encodeVector } from './vectors';
import { hashedId } from '../../../database/hashedId';

/** Makes the vectors. */
export interface Embedder {
  /** Vectors of different models are not compared. */
  readonly model: string;
  /** @returns a vector for each text, in order */
  embed(userId: string, texts: readonly string[], signal?: AbortSignal): Promise<readonly (readonly number[])[]>;
}

export interface UserMemoryOptions {
  readonly records: MemoryRecords;
  /** Absent: memories are found by their words only. */
  readonly embedder?: Embedder | undefined;
  /** Memories of a user; default 1,000. */
  readonly maxPerUser?: number | undefined;
  /** Estimated bytes of the indexes in this process's memory; default 64 MiB. The least recently used goes first. */
  readonly maxIndexBytes?: number | undefined;
  /** Called with the user after their memories have changed. */
  readonly onChange?: (userId: string) => void;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly logger?: Logger | undefined;
}

export const MEMORY_LIMITS = { text: 4_000, key: 200, query: 2_000, found: 50, page: 200 } as const;
export const DEFAULT_MAX_PER_USER = 1_000;

const DEFAULT_FOUND = 5;
const DEFAULT_PAGE = 50;
const DEFAULT_INDEX_BYTES = 64 * 1_024 * 1_024;
/** Texts that one search makes vectors of, for memories that were saved without. */
const MAX_ADDED_VECTORS = 100;
const NO_EMBEDDER = 'No model for embeddings is configured, so only words were compared.';

export class UserMemory implements Memory {
  private readonly records: MemoryRecords;
  private readonly embedder: Embedder | undefined;
  private readonly maxPerUser: number;
  private readonly maxIndexBytes: number;
  private readonly onChange: (userId: string) => void;
  private readonly now: () => number;
  private readonly logger: Logger;
  /** From the least to the most recently used. */
  private readonly indexes = new Map<string, MemoryIndex>();
  /** The last task of each user, so that one user's are done one after another. */
  private readonly tasks = new Map<string, Promise<unknown>>();

  constructor(options: UserMemoryOptions) {
    this.records = options.records;
    this.embedder = options.embedder;
    this.maxPerUser = options.maxPerUser ?? DEFAULT_MAX_PER_USER;
    this.maxIndexBytes = options.maxIndexBytes ?? DEFAULT_INDEX_BYTES;
    this.onChange = options.onChange ?? (() => undefined);
    this.now = options.now ?? Date.now;
    this.logger = options.logger ?? consoleLogger;
  }

  async save(userId: string, memory: NewMemory): Promise<MemoryEntry> {
    assertUser(userId);
    const text = checkedText(memory.text, 'text', MEMORY_LIMITS.text);
    const key = memory.key === undefined ? undefined : checkedText(memory.key, 'key', MEMORY_LIMITS.key);
    const entry = await this.inTurn(userId, async () => {
      const { index } = await this.upToDate(userId);
      const same = key === undefined ? index.find(text) : index.entry(hashedId(userId, key));
      const savedAt = this.now();
      const id = key === undefined ? (same?.id ?? randomUUID()) : hashedId(userId, key);
      const record: MemoryRecord = {
        _id: id,
        userId,
        text,
        createdAt: same?.createdAt ?? savedAt,
        savedAt,
        revision: randomUUID(),
        ...(await this.vectorOf(userId, text)),
      };
      await this.records.put(record);
      index.put(record);
      await this.forgetSurplus(userId, index);
      return { id, text, createdAt: record.createdAt, savedAt };
    });
    this.onChange(userId);
    return entry;
  }

  async search(userId: string, { query: given, limit = DEFAULT_FOUND, signal }: MemoryQuery): Promise<FoundMemories> {
    assertUser(userId);
    const query = given.slice(0, MEMORY_LIMITS.query).toWellFormed().trim();
    const most = Math.min(Math.max(1, limit), MEMORY_LIMITS.found);
    return this.inTurn(userId, async () => {
      const { index, heads } = await this.upToDate(userId);
      const { embedder } = this;
      if (embedder === undefined) return { memories: index.search(query, most), by: 'words', notice: NO_EMBEDDER };
      if (heads.length === 0 || query === '') return { memories: [], by: 'words-and-meaning' };
      try {
        const vector = await this.embedAll(userId, index, query, embedder, signal);
        const memories = index.search(query, most, { model: embedder.model, vector });
        return { memories, by: 'words-and-meaning' };
      } catch (error) {
        signal?.throwIfAborted();
        return { memories: index.search(query, most), by: 'words', notice: this.noticeOf(error) };
      }
    });
  }

  async list(
    userId: string,
    { limit = DEFAULT_PAGE, after }: { readonly limit?: number | undefined; readonly after?: string | undefined } = {},
  ): Promise<MemoryPage> {
    assertUser(userId);
    const heads = await this.records.heads(userId);
    const rest = after === undefined ? heads : heads.slice(positionAfter(heads, after));
    const page = rest.slice(0, Math.min(Math.max(1, limit), MEMORY_LIMITS.page));
    const loaded = await this.records.load(
      userId,
      page.map(({ _id }) => _id),
    );
    const byId = new Map(loaded.map((record) => [record._id, record]));
    const last = page.at(-1);
    return {
      memories: page.flatMap(({ _id }) => byId.get(_id) ?? []).map(toEntry),
      total: heads.length,
      ...(last === undefined || rest.length === page.length ? {} : { next: `${last.savedAt}.${last._id}` }),
    };
  }

  async forget(userId: string, ids?: readonly string[]): Promise<number> {
    assertUser(userId);
    const forgotten = await this.inTurn(userId, async () => {
      if (ids !== undefined) {
        for (const id of ids) this.indexes.get(userId)?.remove(id);
        return this.records.remove(userId, ids);
      }
      this.indexes.delete(userId);
      return this.records.removeAll(userId);
    });
    if (forgotten > 0) this.onChange(userId);
    return forgotten;
  }

  /** Removes what of the user is in this process's memory. The records stay. */
  evict(userId: string): void {
    this.indexes.delete(userId);
  }

  private async upToDate(
    userId: string,
  ): Promise<{ readonly index: MemoryIndex; readonly heads: readonly MemoryHead[] }> {
    const index = this.indexes.get(userId) ?? (await MemoryIndex.create());
    const heads = await this.records.heads(userId);
    const current = new Set(heads.map(({ _id }) => _id));
    for (const id of [...index.ids]) if (!current.has(id)) index.remove(id);
    const changed = heads.filter((head) => !index.has(head)).map(({ _id }) => _id);
    for (const record of await this.records.load(userId, changed)) index.put(record);
    this.keep(userId, index);
    return { index, heads };
  }

  private keep(userId: string, index: MemoryIndex): void {
    this.indexes.delete(userId);
    this.indexes.set(userId, index);
    let bytes = 0;
    for (const each of this.indexes.values()) bytes += each.bytes;
    for (const [oldest, { bytes: freed }] of this.indexes) {
      if (bytes <= this.maxIndexBytes) return;
      this.indexes.delete(oldest);
      bytes -= freed;
    }
  }

  /** Nothing, if it cannot be made now: a search makes it later. */
  private async vectorOf(userId: string, text: string): Promise<Pick<MemoryRecord, 'vector' | 'model'>> {
    const { embedder } = this;
    if (embedder === undefined) return {};
    try {
      const [vector] = await embedder.embed(userId, [text]);
      return vector === undefined ? {} : { vector: encodeVector(vector), model: embedder.model };
    } catch (error) {
      this.noticeOf(error);
      return {};
    }
  }

  /** @returns the vector of the query, after some of the memories that lack one have got it */
  private async embedAll(
    userId: string,
    index: MemoryIndex,
    query: string,
    embedder: Embedder,
    signal: AbortSignal | undefined,
  ): Promise<Int8Array> {
    const lacking = index.withoutVector(embedder.model, MAX_ADDED_VECTORS);
    const texts = [query, ...lacking.map(({ entry }) => entry.text)];
    const [first = [], ...others] = await embedder.embed(userId, texts, signal);
    for (const [position, head] of lacking.entries()) {
      const made = others[position];
      if (made === undefined) continue;
      const added = { vector: encodeVector(made), model: embedder.model, revision: randomUUID() };
      await this.records.addVector(userId, head, added);
      index.put({ ...head.entry, _id: head._id, userId, ...added });
    }
    return decodeVector(encodeVector(first));
  }

  private noticeOf(error: unknown): string {
    const code = isLLMError(error) ? error.code : 'unexpected';
    this.logger.warn(`Memories could not be compared by their meaning, since embeddings failed (${code}).`, error);
    return `Embeddings failed (${code}), so only words were compared.`;
  }

  private async forgetSurplus(userId: string, index: MemoryIndex): Promise<void> {
    const heads = await this.records.heads(userId);
    const surplus = heads.slice(this.maxPerUser).map(({ _id }) => _id);
    if (surplus.length === 0) return;
    await this.records.remove(userId, surplus);
    for (const id of surplus) index.remove(id);
  }

  private async inTurn<T>(userId: string, task: () => Promise<T>): Promise<T> {
    const before = this.tasks.get(userId) ?? Promise.resolve();
    const outcome = before.then(task);
    const settled = outcome.then(
      () => undefined,
      () => undefined,
    );
    this.tasks.set(userId, settled);
    try {
      return await outcome;
    } finally {
      if (this.tasks.get(userId) === settled) this.tasks.delete(userId);
    }
  }
}

/** Memories of nobody would be everybody's. */
function assertUser(userId: string): void {
  if (typeof userId !== 'string' || userId === '') throw invalid('userId', 'must be the id of a user');
}

function checkedText(value: unknown, path: string, maxLength: number): string {
  if (typeof value !== 'string' || value.trim() === '') throw invalid(path, 'must be a text that is not blank');
  const trimmed = value.toWellFormed().trim();
  if (trimmed.length > maxLength) throw invalid(path, `must be no longer than ${maxLength} characters`);
  return trimmed;
}

/** By time and id, so that a page follows the one before it although its last memory is gone. */
function positionAfter(heads: readonly MemoryHead[], after: string): number {
  const [, time = '', id = ''] = /^(\d+)\.(.+)$/.exec(after) ?? [];
  if (time === '') throw invalid('after', 'must be the "next" of a page');
  const savedAt = Number(time);
  const position = heads.findIndex((head) => head.savedAt < savedAt || (head.savedAt === savedAt && head._id < id));
  return position === -1 ? heads.length : position;
}

function toEntry({ _id, text, createdAt, savedAt }: MemoryRecord): MemoryEntry {
  return { id: _id, text, createdAt, savedAt };
}
