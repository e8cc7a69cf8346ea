/**
 * One collection's file, with its long texts beside it. NeDB manages the file, its compaction and unique keys.
 * Selectors and modifiers are evaluated outside, since NeDB interprets them differently from MongoDB.
 */
import Nedb from '@seald-io/nedb';
import { ConflictError, isLLMError } from '../../../../domain/errors/LLMErrors';
import type { FindOptions, StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { compileRowTest } from '../query/compileSelector';
import type { DocumentColumns } from './DocumentColumns';
import { CorruptDataFileError } from './CorruptDataFileError';
import { DataFile, FILE_MODE } from './DataFile';
import { jsonOfLine, toDataLine } from './dataLine';
import { codeOf, toFileError } from './fileErrors';
import { IndexedDocuments } from './IndexedDocuments';
import type { LargeTexts } from './LargeTexts';
import { ascendingSlots } from './QueryPlan';
import { scanSlots } from './scanSlots';
import { indexesOf, persistenceOf } from './nedbInternals';
import type { IndexOptions } from '../query/parseIndex';
import type { CheckedSelector } from '../query/parseSelector';
import { StoreError } from '../databaseErrors';

/** The documents that match a selector, by slot. */
export interface FileQuery {
  readonly columns: DocumentColumns;
  /** How many documents will be visited. */
  readonly size: number;
  /** All of them match, as the index says. */
  readonly isExact: boolean;
  /** `forEach` visits them in the order of the query. */
  readonly isSorted: boolean;
  /**
   * Visits the matches until `visit` returns false. Other tasks get a turn while it takes long, so documents that are
   * written meanwhile may be visited or not, and in another order.
   * @returns whether nothing was written meanwhile
   */
  forEach(visit: (slot: number) => boolean): Promise<boolean>;
}

export interface NedbFileOptions {
  readonly name: string;
  /** Checked by `checkDataFile`, or a file that doesn't exist yet. */
  readonly file: string;
  readonly texts: LargeTexts;
  /** The number of lines in the file. Default: 0. */
  readonly records?: number;
  /** Rewrites the file when it is loaded. */
  readonly isRewritten?: boolean;
  /** Called before each write, which fails with its error. */
  readonly verify: () => Promise<void>;
}

export class NedbFile {
  readonly name: string;
  private readonly file: string;
  private readonly texts: LargeTexts;
  private readonly nedb: Nedb<StoredDocument>;
  private readonly data: DataFile;
  private readonly lines: number;
  private readonly isRewritten: boolean;
  private loaded: Promise<void> | undefined;
  /** NeDB's own copies can only be listed by a walk through its tree, which takes longer than most queries. */
  private readonly documents = new IndexedDocuments();
  private failure: unknown;
  /** NeDB changes its memory without the file. */
  private isUndoing = false;
  /** Of the last append. */
  private appendError: unknown;
  private isClosed = false;
  private hasNewWrites = false;
  private visited = 0;
  /** Incremented before each change of the documents in memory. */
  private writes = 0;

  constructor({ name, file, texts, records = 0, isRewritten = false, verify }: NedbFileOptions) {
    this.name = name;
    this.file = file;
    this.texts = texts;
    this.lines = records;
    this.isRewritten = isRewritten;
    this.nedb = new Nedb<StoredDocument>({
      filename: file,
      corruptAlertThreshold: 0,
      modes: { fileMode: FILE_MODE, dirMode: 0o700 },
      afterSerialization: toDataLine,
      beforeDeserialization: jsonOfLine,
    });
    this.data = new DataFile(file, verify);
    // NeDB has no option for either. It opens the file for each write, and has all lines in memory to rewrite it.
    const persistence = persistenceOf(this.nedb);
    persistence.persistNewStateAsync = (records) => this.append(records);
    persistence.persistCachedDatabaseAsync = () => this.rewriteAfterLoad();
    void this.startLoading();
  }

  /** @throws CorruptDataFileError, StoreError if the file is closed or cannot be read, StorageFullError */
  async ready(): Promise<void> {
    if (this.isClosed) throw new StoreError(`The collection ${this.name} is closed.`);
    try {
      await (this.loaded ?? this.startLoading());
    } catch (cause) {
      // What the operating system refuses now, it may permit later.
      if (codeOf(cause) !== '') this.loaded = undefined;
      throw codeOf(cause) === '' && !isLLMError(cause)
        ? new CorruptDataFileError(this.file, [], 'cannot be loaded', cause)
        : toFileError(`${this.file} could not be loaded`, cause);
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
    const isExact = Object.keys(untested).length === 0;
    const isMatch = compileRowTest(untested, columns.pathReader(size));
    const isAnyOrder = options.sort === undefined && options.limit === undefined && size > columns.capacity / SPARSE;
    const slots = (): Iterable<number> => (isAnyOrder ? ascendingSlots(plan, columns.capacity) : plan.slots());
    return { columns, size, isExact, isSorted, forEach: (visit) => this.scan(slots(), isMatch, visit) };
  }

  /** How many documents queries have visited so far. */
  get examined(): number {
    return this.visited;
  }

  /** @throws ConflictError */
  async insert(documents: readonly StoredDocument[]): Promise<void> {
    if (documents.length === 0) return;
    const stored = await this.storeTexts(documents);
    await this.write({
      apply: () => this.nedb.insertAsync(stored.map((document) => this.texts.encode(document))),
      undo: () => this.nedb.removeAsync(idsOf(stored), { multi: true }),
      stored,
    });
    this.writes += 1;
    for (const document of stored) this.documents.set(this.ownCopy(document));
  }

  /** @throws ConflictError */
  async replace(document: StoredDocument): Promise<void> {
    const stored = await this.storeTexts([document]);
    const [next = document] = stored;
    const before = this.documents.find(next._id);
    const put = (version: StoredDocument): Promise<unknown> =>
      this.nedb.updateAsync({ _id: next._id }, this.texts.encode(version), {});
    await this.write({
      apply: () => put(next),
      undo: async () => (before === undefined ? undefined : put(before)),
      stored,
    });
    this.writes += 1;
    this.documents.set(this.ownCopy(next));
    if (before !== undefined) this.texts.release([before]);
  }

  async remove(documents: readonly StoredDocument[]): Promise<void> {
    if (documents.length === 0) return;
    await this.write({
      apply: () => this.nedb.removeAsync(idsOf(documents), { multi: true }),
      undo: () => this.nedb.insertAsync(documents.map((document) => this.texts.encode(document))),
    });
    this.writes += 1;
    for (const document of documents) this.documents.delete(document._id);
    this.texts.release(documents);
  }

  /** Until the returned function is called, the texts of documents that were found stay readable. */
  holdTexts(): () => void {
    return this.texts.hold();
  }

  /**
   * Replaces an existing index of NeDB that an earlier version of the program gave other options.
   * Only unique keys need one.
   * @param fields sorted
   * @throws ConflictError if documents already share a unique key
   */
  async buildUniqueKey(fields: readonly string[], { unique = false, sparse = false }: IndexOptions): Promise<void> {
    const existing = indexesOf(this.nedb)[fields.join()];
    if (unique ? existing?.unique === true && existing.sparse === sparse : existing === undefined) return;
    await this.write({
      apply: async () => {
        await this.nedb.removeIndexAsync(fields.join());
        if (unique) await this.nedb.ensureIndexAsync({ fieldName: [...fields], unique, sparse });
      },
      // Whoever tries again builds it anew.
      undo: () => this.nedb.removeIndexAsync(fields.join()),
    });
  }

  /** Declares an index in memory, which queries use from then on. */
  ensureOrder(keys: Readonly<Record<string, 1 | -1>>): void {
    this.documents.ensureIndex(keys);
  }

  /** Rewrites the file without outdated lines, if anything was written since the last time. */
  async compact(): Promise<void> {
    await this.ready();
    if (!this.hasNewWrites) return;
    try {
      await this.rewrite();
    } catch (cause) {
      throw toFileError(`${this.file} could not be compacted`, cause);
    }
  }

  /** Nothing touches the file afterwards, not even a pending load. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled([this.loaded]);
    try {
      await this.data.close();
    } catch (cause) {
      throw toFileError(`The end of ${this.file} could not be cut off`, cause);
    }
  }

  /** NeDB's copy of a document that it has the same content of, so that there are not two of them in memory. */
  private ownCopy(document: StoredDocument): StoredDocument {
    const [own] = indexesOf(this.nedb)._id.getMatching(document._id);
    return own !== undefined && this.texts.encode(document) === document ? own : document;
  }

  private async append(records: readonly object[]): Promise<void> {
    if (this.isUndoing) return;
    try {
      await this.data.append(records);
    } catch (error) {
      this.appendError = error;
      throw error;
    }
  }

  private async rewrite(): Promise<void> {
    await this.data.rewrite(this.records());
    this.hasNewWrites = false;
  }

  private *records(): Generator<object> {
    yield* this.nedb.getAllData();
    for (const [name, { fieldName, unique, sparse }] of Object.entries(indexesOf(this.nedb)))
      if (name !== '_id') yield { $$indexCreated: { fieldName, unique, sparse } };
  }

  private async scan(
    slots: Iterable<number>,
    isMatch: (slot: number) => boolean,
    visit: (slot: number) => boolean,
  ): Promise<boolean> {
    const { columns } = this.documents;
    const { writes } = this;
    await scanSlots(slots, (slot) => {
      this.visited += 1;
      return columns.document(slot) === undefined || !isMatch(slot) || visit(slot);
    });
    return this.writes === writes;
  }

  private startLoading(): Promise<void> {
    const loaded = this.load();
    this.loaded = loaded;
    // `ready` reports the failure to every user of the file.
    loaded.catch(() => undefined);
    return loaded;
  }

  /**
   * NeDB rewrites the file whenever it has loaded it, which takes a third of a start with many documents. Unless most
   * lines are outdated, that can wait for the next compaction; on a full disk, it has to.
   */
  private async rewriteAfterLoad(): Promise<void> {
    const current = this.nedb.getAllData().length;
    this.hasNewWrites = this.isRewritten || this.lines > current;
    if (!this.isRewritten && this.lines <= 2 * current) return;
    try {
      await this.rewrite();
    } catch (cause) {
      const error = toFileError(`${this.file} could not be compacted`, cause);
      if (error.code !== 'storage-full') throw cause;
      process.emitWarning(error);
    }
  }

  private async load(): Promise<void> {
    await this.data.create();
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
      throw toFileError(`A document of ${this.name} could not be written`, cause);
    }
  }

  /** NeDB changes its memory first and then appends to the file, so a failed append is undone in memory. */
  private async write({ apply, undo, stored = [] }: NedbWrite): Promise<void> {
    await this.ready();
    try {
      await apply();
      this.hasNewWrites = true;
    } catch (cause) {
      if (isUniqueViolation(cause)) {
        this.texts.release(stored);
        throw new ConflictError(`A document with the same key exists in ${this.name}.`, { cause });
      }
      if (cause === this.appendError) await this.undo(undo);
      // As long as the file may refer to the texts, the next start decides about them.
      if (!this.data.hasRemains) this.texts.release(stored);
      throw toFileError(`The collection ${this.name} could not be written`, cause);
    }
  }

  private async undo(change: () => Promise<unknown>): Promise<void> {
    this.isUndoing = true;
    try {
      await change();
    } catch (error) {
      this.failure = error;
    } finally {
      this.isUndoing = false;
    }
  }
}

interface NedbWrite {
  readonly apply: () => Promise<unknown>;
  /** Restores NeDB's memory after a failed append. */
  readonly undo: () => Promise<unknown>;
  /** Documents whose texts were stored for this write. */
  readonly stored?: readonly StoredDocument[];
}

function idsOf(documents: readonly StoredDocument[]): { readonly _id: { readonly $in: readonly string[] } } {
  return { _id: { $in: documents.map((document) => document._id) } };
}

/** Fewer than one slot of so many are visited in any order. */
const SPARSE = 50;

function isUniqueViolation(cause: unknown): boolean {
  return cause instanceof Error && 'errorType' in cause && cause.errorType === 'uniqueViolated';
}
