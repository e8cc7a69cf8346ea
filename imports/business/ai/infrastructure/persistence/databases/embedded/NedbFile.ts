/**
 * One collection's file, with its long texts beside it. NeDB manages the file, its compaction and unique keys.
 * Selectors and modifiers are evaluated outside, since NeDB interprets them differently from MongoDB.
 */
import { promisify } from 'node:util';
import Nedb from '@seald-io/nedb';
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import type { FindOptions, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { compileRowTest } from '../query/compileSelector';
import { AppendedFile } from './AppendedFile';
import type { DocumentColumns } from './DocumentColumns';
import { escapeLineSeparators } from './escapeLineSeparators';
import { IndexedDocuments } from './IndexedDocuments';
import type { LargeTexts } from './LargeTexts';
import { ascendingSlots } from './QueryPlan';
import { CorruptDataFileError } from './repairDataFile';
import type { IndexOptions } from '../query/parseIndex';
import type { CheckedSelector } from '../query/parseSelector';
import { StoreError } from '../databaseErrors';

/** The documents that match a selector, by slot. */
export interface FileQuery {
  readonly columns: DocumentColumns;
  /** How many documents will be tested. */
  readonly size: number;
  /** `forEach` visits them in the order of the query. */
  readonly isSorted: boolean;
  /**
   * Visits the matches until `visit` returns false. Other tasks get a turn while it takes long, so documents that are
   * written meanwhile may be visited or not, and in another order.
   * @returns whether nothing was written meanwhile
   */
  forEach(visit: (slot: number) => boolean): Promise<boolean>;
}

export class NedbFile {
  readonly name: string;
  private readonly file: string;
  private readonly texts: LargeTexts;
  private readonly nedb: Nedb<StoredDocument>;
  private readonly appended: AppendedFile;
  private readonly writeLine = createLineWriter();
  private readonly loaded: Promise<void>;
  /** NeDB's own copies can only be listed by a walk through its tree, which takes longer than most queries. */
  private readonly documents = new IndexedDocuments();
  private failure: unknown;
  private isClosed = false;
  private hasNewWrites = false;
  /** Incremented before each change of the documents in memory. */
  private writes = 0;

  /**
   * @param file checked by `repairDataFile`, or a file that doesn't exist yet
   * @param records the number of lines in the file
   */
  constructor(name: string, file: string, texts: LargeTexts, records = 0) {
    this.name = name;
    this.file = file;
    this.texts = texts;
    this.nedb = new Nedb<StoredDocument>({
      filename: file,
      corruptAlertThreshold: 0,
      modes: { fileMode: FILE_MODE, dirMode: 0o700 },
      afterSerialization: this.writeLine,
      beforeDeserialization: (line) => line,
    });
    this.appended = new AppendedFile(file, FILE_MODE);
    // NeDB has no option for it, and opens the file for each write.
    this.persistence.persistNewStateAsync = (documents) => this.append(documents);
    this.loaded = this.load(records);
    // `ready` reports the failure to every user of the file.
    this.loaded.catch(() => undefined);
  }

  /** @throws CorruptDataFileError, StoreError when a write has failed or the file is closed */
  async ready(): Promise<void> {
    if (this.isClosed) throw new StoreError(`The collection ${this.name} is closed.`);
    try {
      await this.loaded;
    } catch (cause) {
      throw new CorruptDataFileError(this.file, undefined, cause);
    }
    if (this.failure !== undefined)
      throw new StoreError(`The collection ${this.name} could not be written. Restart the process to reopen it.`, {
        cause: this.failure,
      });
  }

  async query(selector: CheckedSelector, options: Pick<FindOptions, 'sort' | 'limit'> = {}): Promise<FileQuery> {
    await this.ready();
    const { columns } = this.documents;
    const { plan, untested } = this.documents.candidates(selector, options);
    const { size, isSorted } = plan;
    const isMatch = compileRowTest(untested, columns.pathReader(size));
    const isAnyOrder = options.sort === undefined && options.limit === undefined && size > columns.capacity / SPARSE;
    const slots = (): ArrayLike<number> => (isAnyOrder ? ascendingSlots(plan, columns.capacity) : plan.slots());
    return { columns, size, isSorted, forEach: (visit) => this.scan(slots(), isMatch, visit) };
  }

  /** @throws ConflictError */
  async insert(documents: readonly StoredDocument[]): Promise<void> {
    if (documents.length === 0) return;
    const stored = await this.storeTexts(documents);
    await this.write(() => this.nedb.insertAsync(stored.map((document) => this.texts.encode(document))), stored);
    this.writes += 1;
    for (const document of stored) this.documents.set(this.ownCopy(document));
  }

  /** @throws ConflictError */
  async replace(document: StoredDocument): Promise<void> {
    const stored = await this.storeTexts([document]);
    const [next = document] = stored;
    await this.write(() => this.nedb.updateAsync({ _id: next._id }, this.texts.encode(next), {}), stored);
    this.writes += 1;
    const before = this.documents.find(next._id);
    this.documents.set(this.ownCopy(next));
    if (before !== undefined) this.texts.release([before]);
  }

  async remove(documents: readonly StoredDocument[]): Promise<void> {
    if (documents.length === 0) return;
    await this.write(() =>
      this.nedb.removeAsync({ _id: { $in: documents.map((document) => document._id) } }, { multi: true }),
    );
    this.writes += 1;
    for (const document of documents) this.documents.delete(document._id);
    this.texts.release(documents);
  }

  /** Until the returned function is called, the texts of documents that were found stay readable. */
  holdTexts(): () => void {
    return this.texts.hold();
  }

  /**
   * Replaces an existing index of NeDB, which would retain the options that an earlier version of the program gave it.
   * Only unique keys need one.
   * @param fields sorted
   * @throws ConflictError if documents already share a unique key
   */
  async buildUniqueKey(fields: readonly string[], { unique = false, sparse = false }: IndexOptions): Promise<void> {
    await this.write(async () => {
      await this.nedb.removeIndexAsync(fields.join());
      if (unique) await this.nedb.ensureIndexAsync({ fieldName: [...fields], unique, sparse });
    });
  }

  /** Builds an index in memory, which queries use from then on. */
  ensureOrder(keys: Readonly<Record<string, 1 | -1>>): void {
    this.documents.ensureIndex(keys);
  }

  /** Rewrites the file without outdated lines, if anything was written since the last time. */
  async compact(): Promise<void> {
    await this.ready();
    if (!this.hasNewWrites) return;
    this.hasNewWrites = false;
    await this.appended.close();
    await this.nedb.compactDatafileAsync();
  }

  /** Nothing touches the file afterwards, not even a pending load. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled([this.loaded]);
    await this.appended.close();
  }

  /** NeDB's copy of a document that it has the same content of, so that there are not two of them in memory. */
  private ownCopy(document: StoredDocument): StoredDocument {
    const [own] = (this.nedb as object as NedbIndexes).indexes._id.getMatching(document._id);
    return own !== undefined && this.texts.encode(document) === document ? own : document;
  }

  private get persistence(): NedbPersistence {
    return this.nedb.persistence as object as NedbPersistence;
  }

  /** @param records documents, deletion marks and index definitions */
  private async append(records: readonly object[]): Promise<void> {
    let lines = '';
    for (const record of records) lines += `${await this.writeLine(toLine(record))}\n`;
    if (lines !== '') await this.appended.append(lines);
  }

  private async scan(
    slots: ArrayLike<number>,
    isMatch: (slot: number) => boolean,
    visit: (slot: number) => boolean,
  ): Promise<boolean> {
    const { columns } = this.documents;
    const { writes } = this;
    let until = performance.now() + SCAN_SLICE_MS;
    for (let at = 0; at < slots.length; at += 1) {
      const slot = slots[at] ?? 0;
      if (columns.document(slot) !== undefined && isMatch(slot) && !visit(slot)) break;
      if (at % 500 !== 499 || performance.now() < until) continue;
      await nextTick();
      until = performance.now() + SCAN_SLICE_MS;
    }
    return this.writes === writes;
  }

  private async load(records: number): Promise<void> {
    // NeDB has no option for it; without the method, it would rewrite the file as ever.
    const { persistence } = this;
    persistence.persistCachedDatabaseAsync = async () => {
      Reflect.deleteProperty(persistence, 'persistCachedDatabaseAsync');
      const current = this.nedb.getAllData().length;
      this.hasNewWrites = records > current;
      if (records <= 2 * current) return;
      await persistence.persistCachedDatabaseAsync();
      this.hasNewWrites = false;
    };
    await this.nedb.loadDatabaseAsync();
    const documents = this.nedb.getAllData().map((document) => this.texts.decode(document));
    for (const document of documents) this.documents.set(document);
    await this.texts.adopt(documents);
  }

  /** Nothing is in the data file yet, so a failure, such as a full disk, concerns this write only. */
  private async storeTexts(documents: readonly StoredDocument[]): Promise<readonly StoredDocument[]> {
    await this.ready();
    try {
      return await this.texts.store(documents);
    } catch (cause) {
      throw new StoreError(`A document of ${this.name} could not be written.`, { cause });
    }
  }

  /**
   * NeDB changes its memory first and then appends to the file. After a failed append the two differ, and the file may
   * end in half a line that the next append would turn into a damaged one. So a failed write is the last one.
   * @param documents whose texts were stored for this write
   */
  private async write(action: () => Promise<unknown>, documents: readonly StoredDocument[] = []): Promise<void> {
    await this.ready();
    try {
      await action();
      this.hasNewWrites = true;
    } catch (cause) {
      if (isUniqueViolation(cause)) {
        this.texts.release(documents);
        throw new ConflictError(`A document with the same key exists in ${this.name}.`, { cause });
      }
      // The file may refer to the texts, so the next start decides about them.
      this.failure = cause;
      throw new StoreError(`The collection ${this.name} could not be written.`, { cause });
    }
  }
}

/** Where NeDB finds its documents. */
interface NedbIndexes {
  readonly indexes: { readonly _id: { getMatching(id: string): readonly StoredDocument[] } };
}

/** What NeDB calls for its file. */
interface NedbPersistence {
  /**
   * Rewrites the file without outdated lines. NeDB does so whenever it loads a file, which takes a third of a start
   * with many documents. Unless most lines are outdated, that can wait for the next compaction.
   */
  persistCachedDatabaseAsync(): Promise<void>;
  /** Appends to the file. */
  persistNewStateAsync(records: readonly object[]): Promise<void>;
}

const FILE_MODE = 0o600;
/** Fewer than one slot of so many are visited in any order. */
const SPARSE = 50;
/** Milliseconds that a scan takes before other tasks get a turn. */
const SCAN_SLICE_MS = 15;
/** How many lines are serialized before other tasks get a turn, while an entire file is written. */
const LINES_PER_TICK = 200;
const nextTick = promisify(setImmediate);

function createLineWriter(): (line: string) => Promise<string> {
  let lines = 0;
  return async (line) => {
    lines += 1;
    if (lines % LINES_PER_TICK === 0) await nextTick();
    return escapeLineSeparators(line);
  };
}

/** JSON as NeDB parses it: with its own form of dates. */
function toLine(record: object): string {
  return JSON.stringify(record, function (this: Readonly<Record<string, unknown>>, key, value: unknown) {
    // By now, `value` is a date's ISO string.
    const given = typeof value === 'string' ? this[key] : undefined;
    return given instanceof Date ? { $$date: given.getTime() } : value;
  });
}

function isUniqueViolation(cause: unknown): boolean {
  return cause instanceof Error && 'errorType' in cause && cause.errorType === 'uniqueViolated';
}
