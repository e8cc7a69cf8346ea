/**
 * DocumentCollection over one NeDB file. Writes run one after another, so that a modifier changes exactly the documents
 * that its selector found.
 */
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import type {
  DocumentCollection,
  Aggregation,
  AggregateRow,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
  Upsert,
} from '../../../../domain/interfaces/DocumentCollection';
import { copyDocument } from '../query/copyDocument';
import { invalidInput } from '../query/fieldPaths';
import { DocumentAggregator } from '../query/DocumentAggregator';
import { projectFields, parseFindOptions } from '../query/findOptions';
import { modifyDocument } from '../query/modifyDocument';
import { parseAggregation } from '../query/parseAggregation';
import { isSameIndex, selectExpired } from '../query/knownIndexes';
import type { KnownIndex } from '../query/knownIndexes';
import { parseIndex } from '../query/parseIndex';
import type { IndexOptions } from '../query/parseIndex';
import { parseModifier } from '../query/parseModifier';
import { parseSelector } from '../query/parseSelector';
import type { CheckedSelector } from '../query/parseSelector';
import { upsertEach } from '../upsertEach';
import { TopDocuments } from '../query/TopDocuments';
import { loadTexts } from './loadTexts';
import type { NedbFile } from './NedbFile';
import { SharedInserts } from './SharedInserts';
import { conflictTest, uniqueKeyOf } from './uniqueKeys';
import type { UniqueRule } from './uniqueKeys';

/** Documents that an aggregation takes at once. */
const AGGREGATION_BATCH = 4_096;

export class EmbeddedCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly file: NedbFile;
  private readonly indexes = new Map<string, KnownIndex>();
  private lastWrite: Promise<unknown> = Promise.resolve();
  private readonly inserts = new SharedInserts({
    enqueue: (write) => this.enqueue(write),
    insert: (rows) => this.insertRows(rows),
    canShareWrite: (rows) => this.canShareWrite(rows),
  });

  constructor(file: NedbFile) {
    this.file = file;
  }

  /** How many documents have been visited so far, by queries and on behalf of writes. */
  get examined(): number {
    return this.file.examined;
  }

  async insert(document: T): Promise<void> {
    await this.inserts.insert(copyDocument(document));
  }

  async insertMany(documents: readonly T[]): Promise<void> {
    const rows = documents.map((document) => copyDocument(document));
    for (const batch of this.canShareWrite(rows) ? [rows] : rows.map((row) => [row]))
      await this.enqueue(() => this.insertRows(batch));
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    const checked = parseSelector(selector);
    const checkedOptions = parseFindOptions(options);
    const release = this.file.holdTexts();
    try {
      const found = await this.findRows(checked, checkedOptions);
      // The file holds only documents that were inserted as T.
      return await loadTexts(found.map((row) => copyDocument(row) as T));
    } finally {
      release();
    }
  }

  async count(selector: Selector): Promise<number> {
    let count = 0;
    const query = await this.file.query(parseSelector(selector));
    if (query.isExact) return query.size;
    await query.forEach(() => {
      count += 1;
      return true;
    });
    return count;
  }

  async aggregate(selector: Selector, aggregation: Aggregation): Promise<readonly AggregateRow[]> {
    const query = await this.file.query(parseSelector(selector));
    const aggregator = new DocumentAggregator(parseAggregation(aggregation), (path) =>
      query.columns.fieldReader(path, query.size),
    );
    let batch: number[] = [];
    await query.forEach((slot) => {
      if (batch.push(slot) < AGGREGATION_BATCH) return true;
      aggregator.add(batch);
      batch = [];
      return true;
    });
    aggregator.add(batch);
    return aggregator.rows();
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const checked = parseSelector(selector);
    const change = parseModifier(modifier);
    return this.enqueue(async () => {
      const rows = await this.findMatching(checked, options.multi === true ? undefined : 1);
      for (const row of rows) {
        const next = modifyDocument(row, change);
        await this.checkUniqueKeys(next);
        await this.file.replace(next);
      }
      return rows.length;
    });
  }

  async upsertMany(changes: readonly Upsert[]): Promise<{ readonly written: number; readonly inserted: number }> {
    const insert = (document: StoredDocument): Promise<void> => this.insert(document as T);
    return upsertEach({ insert, update: (selector, modifier) => this.update(selector, modifier) }, changes);
  }

  async remove(selector: Selector): Promise<number> {
    const checked = parseSelector(selector);
    return this.enqueue(async () => {
      const rows = await this.findMatching(checked);
      await this.file.remove(rows);
      return rows.length;
    });
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = parseIndex(keys, options);
    // NeDB has one index per set of fields, whatever their order and direction.
    const fields = Object.keys(index.keys)
      .filter((field) => field !== '_id')
      .toSorted();
    await this.enqueue(async () => {
      const name = fields.join();
      const existing = this.indexes.get(name);
      if (existing !== undefined) {
        if (!isSameIndex(existing.options, index.options))
          throw invalidInput('index', `on ${name} of ${this.file.name} already exists with other options`);
      } else {
        await this.checkStoredKeys(fields, index.options);
        await this.file.buildUniqueKey(fields, index.options);
        this.indexes.set(name, { keys: fields, options: index.options });
      }
      this.file.ensureOrder(index.keys);
    });
  }

  /**
   * Removes expired documents. The database calls this about once a minute, as MongoDB does on its own.
   * @param now milliseconds since the epoch
   * @returns how many documents were removed
   */
  async removeExpired(now: number): Promise<number> {
    let removed = 0;
    for (const selector of selectExpired(this.indexes.values(), now)) removed += await this.remove(selector);
    return removed;
  }

  async compact(): Promise<void> {
    await this.enqueue(() => this.file.compact());
  }

  /** Waits for pending writes. */
  async close(): Promise<void> {
    await this.enqueue(() => this.file.close());
  }

  private async insertRows(rows: readonly StoredDocument[]): Promise<void> {
    for (const row of rows) await this.checkUniqueKeys(row);
    await this.file.insert(rows);
  }

  /** Documents with null in a unique key are checked against those before them. */
  private canShareWrite(rows: readonly StoredDocument[]): boolean {
    return !this.uniqueRules().some((rule) => rows.some((row) => uniqueKeyOf(row, rule)?.includes(null)));
  }

  private enqueue<Result>(write: () => Promise<Result>): Promise<Result> {
    this.inserts.close();
    const result = this.lastWrite.then(write);
    // The error belongs to the caller of this write, not to the caller of the next.
    this.lastWrite = result.catch(() => undefined);
    return result;
  }

  private async findRows(
    selector: CheckedSelector,
    { sort, limit, fields }: FindOptions,
  ): Promise<readonly StoredDocument[]> {
    const query = await this.file.query(selector, {
      ...(sort === undefined ? {} : { sort }),
      ...(limit === undefined ? {} : { limit }),
    });
    let found = new TopDocuments<StoredDocument>(query.isSorted ? {} : sort, limit);
    const isInOrder = await query.forEach((slot) => {
      const row = query.columns.document(slot);
      if (row !== undefined) found.add(row);
      return !found.isFull;
    });
    if (!isInOrder && query.isSorted) {
      const unsorted = found.toArray();
      found = new TopDocuments<StoredDocument>(sort, limit);
      for (const row of unsorted) found.add(row);
    }
    return found.toArray().map((row) => ({ _id: row._id, ...projectFields(row, fields) }));
  }

  private async findMatching(selector: CheckedSelector, limit = Infinity): Promise<readonly StoredDocument[]> {
    const found: StoredDocument[] = [];
    const query = await this.file.query(selector);
    await query.forEach((slot) => {
      const row = query.columns.document(slot);
      if (row !== undefined) found.push(row);
      return found.length < limit;
    });
    return found;
  }

  private uniqueRules(): readonly UniqueRule[] {
    return [...this.indexes.values()]
      .filter(({ options }) => options.unique === true)
      .map(({ keys, options }) => ({ fields: keys, isSparse: options.sparse === true }));
  }

  private async hasDocument(isMatch: (row: StoredDocument) => boolean): Promise<boolean> {
    let isFound = false;
    const query = await this.file.query({});
    await query.forEach((slot) => {
      const row = query.columns.document(slot);
      isFound = row !== undefined && isMatch(row);
      return !isFound;
    });
    return isFound;
  }

  private async checkUniqueKeys(row: StoredDocument): Promise<void> {
    const isConflict = conflictTest(row, this.uniqueRules());
    if (isConflict !== undefined && (await this.hasDocument(isConflict)))
      throw new ConflictError(`A document with the same key exists in ${this.file.name}.`);
  }

  /** For a unique index that is created over existing documents. */
  private async checkStoredKeys(fields: readonly string[], options: IndexOptions): Promise<void> {
    if (options.unique !== true) return;
    const rules = [{ fields, isSparse: options.sparse === true }];
    for (const row of await this.findMatching({})) {
      const isConflict = conflictTest(row, rules);
      if (isConflict !== undefined && (await this.hasDocument(isConflict)))
        throw new ConflictError(`Two documents in ${this.file.name} have the same key.`);
    }
  }
}
