/**
 * DocumentCollection over a table of SQLite. SQL finds the documents as far as it can say what a selector says; the
 * rest is tested on the documents. Long scans give other tasks a turn.
 */
import type {
  AggregateRow,
  Aggregation,
  DocumentCollection,
  FindOptions,
  Modifier,
  Selector,
  StoredDocument,
  Upsert,
} from '../DocumentCollection';
import { compileSelector } from '../query/compileSelector';
import { copyDocument } from '../query/copyDocument';
import { DocumentAggregator } from '../query/DocumentAggregator';
import { invalidInput, valueAtPath } from '../query/fieldPaths';
import { projectFields, parseFindOptions } from '../query/findOptions';
import { loadTexts } from '../query/loadTexts';
import { modifyDocument } from '../query/modifyDocument';
import { parseAggregation } from '../query/parseAggregation';
import type { CheckedAggregation } from '../query/parseAggregation';
import { isSameIndex, selectExpired } from '../query/knownIndexes';
import type { KnownIndex } from '../query/knownIndexes';
import { parseIndex } from '../query/parseIndex';
import type { IndexOptions } from '../query/parseIndex';
import { parseModifier } from '../query/parseModifier';
import { parseSelector } from '../query/parseSelector';
import type { CheckedSelector } from '../query/parseSelector';
import { TopDocuments } from '../query/TopDocuments';
import { upsertEach } from '../upsertEach';
import { unquoted } from './names';
import { scanRows } from './scanRows';
import type { SqlRow, SqlValue } from './nodeSqlite';
import type { SqliteFile } from './SqliteFile';
import { AMONG, ROW, SqliteTable } from './SqliteTable';
import type { IndexKeys } from './SqliteTable';
import { toSqlCondition } from './toSqlCondition';

/** Documents that are read with one statement, aggregated at once, or written in one change. */
const PAGE = 200;

interface Query {
  /** From `WHERE` on. */
  readonly sql: string;
  readonly values: readonly SqlValue[];
  readonly isMatch: (document: unknown) => boolean;
  /** SQL finds what matches, and nothing else. */
  readonly isExact: boolean;
  /** SQL returns it in the order of the query. */
  readonly isSorted: boolean;
}

export class SqliteCollection<T extends StoredDocument> implements DocumentCollection<T> {
  private readonly file: SqliteFile;
  private readonly table: SqliteTable;
  private readonly indexes = new Map<string, KnownIndex>();
  /** Indexes that have been declared since the last operation: they are built together. */
  private readonly unbuilt: IndexKeys[] = [];
  private opened: Promise<void> | undefined;

  constructor(file: SqliteFile, name: string) {
    this.file = file;
    this.table = new SqliteTable(file, name);
  }

  get version(): number | undefined {
    return this.file.isFailed ? undefined : this.table.version;
  }

  async insert(document: T): Promise<void> {
    const row = copyDocument(document);
    await this.ready();
    await this.file.write(() => this.table.insert(row));
  }

  async insertMany(documents: readonly T[]): Promise<void> {
    const rows = documents.map((document) => copyDocument(document));
    await this.ready();
    for (const page of pagesOf(rows))
      await this.file.write(() => {
        for (const row of page) this.table.insert(row);
      });
  }

  async findOne(selector: Selector, options: Omit<FindOptions, 'limit'> = {}): Promise<T | undefined> {
    const [first] = await this.find(selector, { ...options, limit: 1 });
    return first;
  }

  async find(selector: Selector, options: FindOptions = {}): Promise<readonly T[]> {
    const checked = parseSelector(selector);
    const { sort, limit = Infinity, fields } = parseFindOptions(options);
    await this.ready();
    const query = this.query(checked, sort);
    const covered = query.isExact && query.isSorted ? this.findInColumns(query, fields, limit) : undefined;
    if (covered !== undefined) return covered as readonly T[];
    let found = new TopDocuments<StoredDocument>(query.isSorted ? {} : sort, limit);
    const isInOrder = await this.scan(query, query.isSorted ? limit : Infinity, (row) => {
      found.add(row);
      return !found.isFull;
    });
    if (!isInOrder && query.isSorted) {
      const unsorted = found.toArray();
      found = new TopDocuments<StoredDocument>(sort, limit);
      for (const row of unsorted) found.add(row);
    }
    // The table has only documents that were inserted as T.
    return loadTexts(found.toArray().map((row) => ({ _id: row._id, ...projectFields(row, fields) }) as T));
  }

  async count(selector: Selector): Promise<number> {
    const checked = parseSelector(selector);
    await this.ready();
    const query = this.query(checked);
    if (query.isExact)
      return Number(
        this.file.get(`SELECT count(*) AS count FROM ${this.table.name} ${query.sql}`, query.values)?.['count'],
      );
    let count = 0;
    await this.scan(query, Infinity, () => {
      count += 1;
      return true;
    });
    return count;
  }

  async bytes(selector: Selector): Promise<number> {
    const checked = parseSelector(selector);
    await this.ready();
    const { sql, values } = toSqlCondition(checked, this.table);
    return this.table.bytes(sql, values);
  }

  async aggregate(selector: Selector, aggregation: Aggregation): Promise<readonly AggregateRow[]> {
    const checked = parseSelector(selector);
    const parsed = parseAggregation(aggregation);
    await this.ready();
    const batch: StoredDocument[] = [];
    const aggregator = new DocumentAggregator(parsed, (path) => {
      const parts = path.split('.');
      return (rows, into) => {
        into.length = rows.length;
        for (const [at, row] of rows.entries()) into[at] = valueAtPath(batch[row], parts);
      };
    });
    const query = this.query(checked);
    const counted = this.countInColumns(query, parsed);
    if (counted !== undefined) {
      for (const { key, count } of counted) aggregator.addCounted(key, count);
      return aggregator.rows();
    }
    const add = (): void => {
      aggregator.add([...batch.keys()]);
      batch.length = 0;
    };
    await this.scan(query, Infinity, (document) => {
      if (batch.push(document) === PAGE) add();
      return true;
    });
    add();
    return aggregator.rows();
  }

  async update(selector: Selector, modifier: Modifier, options: { readonly multi?: boolean } = {}): Promise<number> {
    const checked = parseSelector(selector);
    const change = parseModifier(modifier);
    await this.ready();
    const modify = (row: FoundRow): void =>
      this.table.replace(row.rowid, row.document, modifyDocument(row.document, change));
    if (options.multi !== true) return this.changeFirst(checked, modify);
    return this.changeAll(checked, (rowids) => {
      const isMatch = compileSelector(checked);
      return rowids.filter((rowid) => {
        const document = this.documentAt(rowid);
        if (document === undefined || !isMatch(document)) return false;
        modify({ rowid, document });
        return true;
      }).length;
    });
  }

  async upsertMany(changes: readonly Upsert[]): Promise<{ readonly written: number; readonly inserted: number }> {
    const insert = (document: StoredDocument): Promise<void> => this.insert(document as T);
    return upsertEach({ insert, update: (selector, modifier) => this.update(selector, modifier) }, changes);
  }

  async remove(selector: Selector): Promise<number> {
    const checked = parseSelector(selector);
    await this.ready();
    return this.changeAll(checked, (rowids) => {
      const matching = this.stillMatching(rowids, checked);
      this.table.removeAll(matching);
      return matching.length;
    });
  }

  async ensureIndex(keys: Readonly<Record<string, 1 | -1>>, options?: IndexOptions): Promise<void> {
    const index = parseIndex(keys, options);
    const fields = Object.keys(index.keys)
      .filter((field) => field !== '_id')
      .toSorted();
    const name = fields.join();
    await this.exists();
    await this.file.write(() => {
      const existing = this.indexes.get(name);
      if (existing !== undefined && !isSameIndex(existing.options, index.options))
        throw invalidInput('index', `on ${name} of ${this.table.collection} already exists with other options`);
      if (existing === undefined) {
        if (index.options.unique === true) this.table.addUnique({ fields, isSparse: index.options.sparse === true });
        else this.table.removeUnique(name);
      }
      this.indexes.set(name, { keys: fields, options: index.options });
      this.unbuilt.push(index.keys);
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

  private async ready(): Promise<void> {
    await this.exists();
    if (this.unbuilt.length === 0) return;
    await this.file.write(() => {
      this.table.addIndexes(this.unbuilt);
      this.unbuilt.length = 0;
    });
  }

  private exists(): Promise<void> {
    this.opened ??= this.open();
    return this.opened;
  }

  private async open(): Promise<void> {
    try {
      await this.file.write(() => this.table.open());
    } catch (error) {
      // What fails now may succeed later.
      this.opened = undefined;
      throw error;
    }
  }

  private query(selector: CheckedSelector, sort: FindOptions['sort'] = {}): Query {
    const { sql, values, isExact } = toSqlCondition(selector, this.table);
    const order = this.orderOf(sort);
    return {
      sql: `WHERE ${sql}${order === undefined || order === '' ? '' : ` ORDER BY ${order}`}`,
      values,
      isMatch: compileSelector(selector),
      isExact,
      isSorted: order !== undefined,
    };
  }

  /** Undefined for an order that SQL cannot say: of a path without an index, or with arrays. */
  private orderOf(sort: NonNullable<FindOptions['sort']>): string | undefined {
    const parts: string[] = [];
    for (const [path, direction] of Object.entries(sort)) {
      const column = this.table.columnOf(path);
      if (column === undefined || this.table.hasArrays(path)) return undefined;
      parts.push(`${column} ${direction === 1 ? 'ASC' : 'DESC'}`);
    }
    return parts.join(', ');
  }

  /**
   * Visits the matches until `visit` returns false. Documents that are written meanwhile may be visited or not, and in
   * another order.
   * @returns whether nothing was written meanwhile
   */
  private async scan(query: Query, limit: number, visit: (document: StoredDocument) => boolean): Promise<boolean> {
    const { version } = this.file;
    if (query.isExact && limit <= PAGE) {
      for (const row of this.select(ROW, query, limit)) if (!visit(this.table.read(row))) break;
      return true;
    }
    const rowids = rowidsOf(this.select('rowid', query, query.isExact ? limit : Infinity));
    await scanRows(rowids, (rowid) => {
      const isUnchanged = query.isExact && this.file.version === version;
      const document = this.documentAt(rowid);
      return document === undefined || (!isUnchanged && !query.isMatch(document)) || visit(document);
    });
    return this.file.version === version;
  }

  private select(columns: string, { sql, values }: Query, limit: number): readonly SqlRow[] {
    const select = `SELECT ${columns} FROM ${this.table.name} ${sql}`;
    return limit === Infinity ? this.file.all(select, values) : this.file.all(`${select} LIMIT ?`, [...values, limit]);
  }

  private documentAt(rowid: number): StoredDocument | undefined {
    const row = this.file.get(`SELECT ${ROW} FROM ${this.table.name} WHERE rowid = ?`, [rowid]);
    return row === undefined ? undefined : this.table.read(row);
  }

  private changeFirst(selector: CheckedSelector, change: (row: FoundRow) => void): Promise<number> {
    return this.file.write(() => {
      const query = this.query(selector);
      const row = query.isExact ? this.firstOf(this.select(ROW, query, 1)) : this.firstMatch(query);
      if (row === undefined) return 0;
      change(row);
      return 1;
    });
  }

  private firstOf([row]: readonly SqlRow[]): FoundRow | undefined {
    return row === undefined ? undefined : { rowid: Number(row['rowid']), document: this.table.read(row) };
  }

  private firstMatch(query: Query): FoundRow | undefined {
    for (const rowid of rowidsOf(this.select('rowid', query, Infinity))) {
      const document = this.documentAt(rowid);
      if (document !== undefined && query.isMatch(document)) return { rowid, document };
    }
    return undefined;
  }

  /**
   * A page of documents at a time, so that other changes and tasks get a turn.
   * @param change of documents that have matched, and may not any more. Returns how many it has changed
   */
  private async changeAll(selector: CheckedSelector, change: (rowids: readonly number[]) => number): Promise<number> {
    let changed = 0;
    for (const page of pagesOf(rowidsOf(this.select('rowid', this.query(selector), Infinity))))
      changed += await this.file.write(() => change(page));
    return changed;
  }

  /** Without reading the documents, if SQL can tell. */
  private stillMatching(rowids: readonly number[], selector: CheckedSelector): readonly number[] {
    const { sql, values, isExact } = toSqlCondition(selector, this.table);
    const all = [JSON.stringify(rowids), ...values];
    const found = rowidsOf(
      this.file.all(`SELECT rowid FROM ${this.table.name} WHERE rowid IN (${AMONG}) AND (${sql})`, all),
    );
    if (isExact) return found;
    const isMatch = compileSelector(selector);
    return found.filter((rowid) => isMatch(this.documentAt(rowid)));
  }

  /**
   * Answers from the columns, without reading documents. Only ids and numbers are there as they are in the document:
   * NULL stands for null and for a missing field.
   * @returns undefined if the documents have to be read
   */
  private findInColumns(
    query: Query,
    fields: FindOptions['fields'] = {},
    limit: number,
  ): readonly StoredDocument[] | undefined {
    const names = Object.keys(fields);
    if (names.length === 0) return undefined;
    const columns = new Map<string, string>();
    for (const name of names) {
      const column = name.includes('.') ? undefined : this.table.columnOf(name);
      if (column === undefined) return undefined;
      if (name !== '_id') columns.set(name, column);
    }
    const found: StoredDocument[] = [];
    for (const row of this.select(['_id', ...columns.values()].join(', '), query, limit)) {
      const document: Record<string, unknown> & StoredDocument = { _id: String(row['_id']) };
      for (const [name, column] of columns) {
        const value = row[unquoted(column)];
        if (typeof value !== 'number') return undefined;
        document[name] = value;
      }
      found.push(document);
    }
    return found;
  }

  /**
   * Counts groups from the columns, without reading documents. Texts and numbers are there as they are in the document,
   * and NULL stands for null and for a missing field, which are one group.
   * @returns undefined if the documents have to be read
   */
  private countInColumns(
    { sql, values, isExact }: Query,
    { by, unwind, sum, min, max }: CheckedAggregation,
  ): readonly CountedGroup[] | undefined {
    const isCount = unwind === undefined && [sum, min, max].every((fields) => Object.keys(fields).length === 0);
    const columns = Object.values(by).map((path) => (typeof path === 'string' ? this.table.columnOf(path) : undefined));
    if (!isExact || !isCount || columns.length === 0 || columns.includes(undefined)) return undefined;
    const keys = columns.map((column, at) => `${column ?? ''} AS key${at}`).join(', ');
    const select = `SELECT ${keys}, count(*) AS count FROM ${this.table.name} ${sql} GROUP BY ${columns.join(', ')}`;
    const groups: CountedGroup[] = [];
    for (const row of this.file.all(select, values)) {
      const key = columns.map((_, at) => row[`key${at}`]);
      // What SQLite has no type for is in the columns as bytes.
      if (!isPlainKey(key)) return undefined;
      groups.push({ key, count: Number(row['count']) });
    }
    return groups;
  }
}

/** A group of documents that SQL has counted. */
interface CountedGroup {
  readonly key: readonly (string | number | null)[];
  readonly count: number;
}

function isPlainKey(key: readonly unknown[]): key is CountedGroup['key'] {
  return key.every((part) => part === null || typeof part === 'string' || typeof part === 'number');
}

function rowidsOf(rows: readonly SqlRow[]): readonly number[] {
  return rows.map(({ rowid }) => Number(rowid));
}

interface FoundRow {
  readonly rowid: number;
  readonly document: StoredDocument;
}

function* pagesOf<Element>(list: readonly Element[]): Generator<readonly Element[]> {
  for (let at = 0; at < list.length; at += PAGE) yield list.slice(at, at + PAGE);
}
