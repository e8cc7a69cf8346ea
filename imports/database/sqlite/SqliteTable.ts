/**
 * The table of a collection: a row per document, with the document as text, its checksum, and a column for each path
 * that is indexed. SQLite's own indexes are over these columns. Beside it are a table of long texts, and one of the
 * elements that an indexed path leads to in arrays.
 */
import { crc32 } from 'node:zlib';
import type { StoredDocument } from '../DocumentCollection';
import { ConflictError } from '../../business/ai/domain/errors/LLMErrors';
import { StoreError, UnreadableDocumentError } from '../databaseErrors';
import { largeTextsIn } from '../query/mapTexts';
import { uniqueKeyOf } from './uniqueKeyOf';
import type { UniqueRule } from './uniqueKeyOf';
import { isSameKey, keyAtPath, toKeyValue } from './keyValues';
import { columnNameOf, pathOfColumn, quoted, tableNameOf, unquoted } from './names';
import type { SqlRow, SqlValue } from './nodeSqlite';
import { isConstraintError } from './sqliteErrors';
import type { SqliteFile } from './SqliteFile';
import { decodeDocument, encodeDocument } from './storedText';

/** What a document has in the columns of the layout, and in the table of elements. */
interface Keys {
  readonly columns: readonly SqlValue[];
  readonly elements: readonly ElementsOfPath[];
}

interface ElementsOfPath {
  readonly path: string;
  readonly values: readonly SqlValue[];
}

export type IndexKeys = Readonly<Record<string, 1 | -1>>;

interface Layout {
  readonly keys: readonly { readonly path: string; readonly parts: readonly string[] }[];
  readonly unique: readonly UniqueRule[];
  /** Quoted: those of the keys, then those of the unique keys. */
  readonly columns: readonly string[];
  /** The statement that inserts a row. */
  readonly insertion: string;
}

interface UniqueColumn extends UniqueRule {
  readonly column: string;
}

/** Columns that every table has. Without types, SQLite compares values as they are. */
const COLUMNS = ['rowid INTEGER PRIMARY KEY', '_id NOT NULL UNIQUE', 'document NOT NULL', 'checksum NOT NULL'];
/** A row as it is read. */
export const ROW = 'rowid, document, checksum';
/** The numbers of a list that is given as JSON: one statement for all lengths. */
export const AMONG = 'SELECT value FROM json_each(?)';
const KEY = 'k';
const UNIQUE = 'u';
const SPARSE_UNIQUE = 's';
/** Elements that one statement inserts, at most. */
const MAX_ROWS = 32;

export class SqliteTable {
  readonly collection: string;
  /** Quoted. */
  readonly name: string;
  readonly elements: string;
  private readonly texts: string;
  private readonly file: SqliteFile;
  /** Quoted columns by path. */
  private keyColumns = new Map<string, string>();
  private unique = new Map<string, UniqueColumn>();
  private arrayPaths = new Set<string>();
  private hasTexts = false;
  /** What follows from the columns. Undefined after a change of them. */
  private layout: Layout | undefined;
  /** The statements that insert elements, by how many. */
  private readonly insertions = new Map<number, string>();
  private changes = 0;

  /** `open` before use. */
  constructor(file: SqliteFile, collection: string) {
    const name = tableNameOf(collection);
    this.file = file;
    this.collection = collection;
    this.name = quoted(name);
    this.elements = quoted(`${name}.elements`);
    this.texts = quoted(`${name}.texts`);
  }

  /** Another number after each change of a document, also of one that is taken back. */
  get version(): number {
    return this.changes;
  }

  /** Within a change: creates the table if there is none. */
  open(): void {
    this.file.run(`CREATE TABLE IF NOT EXISTS ${this.name} (${COLUMNS.join(', ')})`);
    this.file.run(
      `CREATE TABLE IF NOT EXISTS ${this.texts} (owner NOT NULL, name NOT NULL, content NOT NULL, PRIMARY KEY (owner, name)) WITHOUT ROWID`,
    );
    this.file.run(
      `CREATE TABLE IF NOT EXISTS ${this.elements} (owner NOT NULL, path NOT NULL, value NOT NULL, PRIMARY KEY (path, value, owner)) WITHOUT ROWID`,
    );
    this.file.run(`CREATE INDEX IF NOT EXISTS ${this.indexName('elements by owner')} ON ${this.elements} (owner)`);
    this.readColumns();
  }

  /** The quoted column of an indexed path. */
  columnOf(path: string): string | undefined {
    return path === '_id' ? '_id' : this.keyColumns.get(path);
  }

  /** Whether a document has an array there, or on the way. */
  hasArrays(path: string): boolean {
    return this.arrayPaths.has(path);
  }

  /** Within a change. @throws ConflictError */
  insert(document: StoredDocument): void {
    this.changes += 1;
    const { text, newTexts } = encodeDocument(document);
    const keys = this.keysOf(document);
    const owner = this.changing(() =>
      this.file.insert(this.columns.insertion, [document._id, text, crc32(text), ...keys.columns]),
    );
    this.insertTexts(owner, newTexts);
    this.insertElements(owner, keys.elements);
  }

  private get columns(): Layout {
    this.layout ??= this.createLayout();
    return this.layout;
  }

  private createLayout(): Layout {
    const unique = [...this.unique.values()];
    const columns = [...this.keyColumns.values(), ...unique.map(({ column }) => column)];
    const names = ['_id', 'document', 'checksum', ...columns];
    return {
      keys: Array.from(this.keyColumns.keys(), (path) => ({ path, parts: path.split('.') })),
      unique,
      columns,
      insertion: `INSERT INTO ${this.name} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
    };
  }

  /** Within a change: writes what differs. @throws ConflictError */
  replace(rowid: number, before: StoredDocument, next: StoredDocument): void {
    this.changes += 1;
    const { text, newTexts, texts } = encodeDocument(next);
    const old = this.keysOf(before);
    const keys = this.keysOf(next);
    const { columns } = this.columns;
    const changed = [...columns.keys()].filter((at) => !isSameKey(keys.columns[at] ?? null, old.columns[at] ?? null));
    const set = ['document', 'checksum', ...changed.map((at) => columns[at])].map((column) => `${column} = ?`);
    this.changing(() =>
      this.file.run(`UPDATE ${this.name} SET ${set.join(', ')} WHERE rowid = ?`, [
        text,
        crc32(text),
        ...changed.map((at) => keys.columns[at] ?? null),
        rowid,
      ]),
    );
    for (const { name } of largeTextsIn(before))
      if (!texts.has(name)) this.file.run(`DELETE FROM ${this.texts} WHERE owner = ? AND name = ?`, [rowid, name]);
    this.insertTexts(rowid, newTexts);
    if (isSameElements(old.elements, keys.elements)) return;
    this.file.run(`DELETE FROM ${this.elements} WHERE owner = ?`, [rowid]);
    this.insertElements(rowid, keys.elements);
  }

  /** Within a change. */
  removeAll(rowids: readonly number[]): void {
    this.changes += 1;
    // One by one: for a list, SQLite first collects what it deletes.
    for (const rowid of rowids) {
      this.file.run(`DELETE FROM ${this.name} WHERE rowid = ?`, [rowid]);
      if (this.hasTexts) this.file.run(`DELETE FROM ${this.texts} WHERE owner = ?`, [rowid]);
      if (this.arrayPaths.size > 0) this.file.run(`DELETE FROM ${this.elements} WHERE owner = ?`, [rowid]);
    }
  }

  /** @throws UnreadableDocumentError if the row is damaged */
  read({ rowid, document, checksum }: SqlRow): StoredDocument {
    const owner = Number(rowid);
    if (typeof document !== 'string' || crc32(document) !== checksum)
      throw new UnreadableDocumentError(
        `Row ${owner} of ${this.collection} in ${this.file.path} is damaged. Restore a backup, or see what can be ` +
          'repaired: `npx bolide data check`, or `npm run data -- check` in a checkout.',
      );
    // Only documents are written.
    return decodeDocument(document, (name) => this.textSource(owner, name)) as StoredDocument;
  }

  /** What is wrong with a row, of which all columns are given. Undefined if nothing is. */
  problemOf(row: SqlRow): string | undefined {
    try {
      const document = this.read(row);
      for (const text of largeTextsIn(document)) text.read();
      const keys = this.keysOf(document);
      const isIndexed = this.columns.columns.every((column, at) =>
        isSameKey(keys.columns[at] ?? null, (row[unquoted(column)] ?? null) as SqlValue),
      );
      if (document._id !== row['_id'] || !isIndexed) return 'its columns do not fit the document';
      const stored = this.file.all(`SELECT path, value FROM ${this.elements} WHERE owner = ?`, [Number(row['rowid'])]);
      const expected = keys.elements.flatMap(({ path, values }) => values.map((value) => ({ path, value })));
      const isThere = ({ path, value }: (typeof expected)[number]): boolean =>
        stored.some((other) => other['path'] === path && isSameKey(value, other['value'] as SqlValue));
      return stored.length === expected.length && expected.every(isThere)
        ? undefined
        : 'its elements do not fit the document';
    } catch (error) {
      if (error instanceof StoreError) return error.message;
      throw error;
    }
  }

  /** Within a change: indexes in these orders. Rows that are there already get the columns, all at once. */
  addIndexes(indexes: readonly IndexKeys[]): void {
    const paths = new Set(indexes.flatMap((keys) => Object.keys(keys)));
    const added = [...paths].filter((path) => this.columnOf(path) === undefined);
    const isNew = added.length > 0 && this.keyColumns.size === 0 && this.isEmpty;
    try {
      for (const path of added) this.keyColumns.set(path, quoted(columnNameOf(KEY, path)));
      this.layout = undefined;
      const columns = added.map((path) => this.columnOf(path) ?? '');
      if (isNew) this.recreate();
      else for (const column of columns) this.file.run(`ALTER TABLE ${this.name} ADD COLUMN ${column}`);
      if (columns.length > 0) this.fill(new Set(columns));
      for (const keys of indexes) this.createIndex(keys);
    } catch (error) {
      for (const path of added) this.keyColumns.delete(path);
      this.layout = undefined;
      throw error;
    }
  }

  private get isEmpty(): boolean {
    return this.file.get(`SELECT max(rowid) AS last FROM ${this.name}`)?.['last'] === null;
  }

  /** Creates an empty table anew, with these columns: adding them one by one takes SQLite far longer. */
  private recreate(): void {
    this.file.run(`DROP TABLE ${this.name}`);
    this.file.run(`CREATE TABLE ${this.name} (${[...COLUMNS, ...this.columns.columns].join(', ')})`);
    for (const [name, { column }] of this.unique) this.createUniqueIndex(name, column);
  }

  /** Within a change. @throws ConflictError if documents already share a key */
  addUnique({ fields, isSparse }: UniqueRule): void {
    const name = fields.join();
    const existing = this.unique.get(name);
    if (existing?.isSparse === isSparse) return;
    this.layout = undefined;
    if (existing !== undefined) this.removeUnique(name);
    const column = quoted(columnNameOf(isSparse ? SPARSE_UNIQUE : UNIQUE, name));
    this.file.run(`ALTER TABLE ${this.name} ADD COLUMN ${column}`);
    this.unique.set(name, { fields, isSparse, column });
    try {
      this.fill(new Set([column]));
      this.changing(() => this.createUniqueIndex(name, column));
    } catch (error) {
      this.unique.delete(name);
      this.layout = undefined;
      throw error;
    }
  }

  /** Within a change: removes the unique key on these fields, if there is one. */
  removeUnique(name: string): void {
    const existing = this.unique.get(name);
    if (existing === undefined) return;
    this.layout = undefined;
    this.file.run(`DROP INDEX ${this.indexName(`unique ${name}`)}`);
    this.file.run(`ALTER TABLE ${this.name} DROP COLUMN ${existing.column}`);
    this.unique.delete(name);
  }

  private createUniqueIndex(name: string, column: string): void {
    this.file.run(`CREATE UNIQUE INDEX ${this.indexName(`unique ${name}`)} ON ${this.name} (${column})`);
  }

  private createIndex(keys: IndexKeys): void {
    const [[, first] = ['', 1]] = Object.entries(keys);
    // An index is read in both directions, so that it has one of them.
    const order = Object.entries(keys).map(([path, direction]) => ({ path, isAscending: direction === first }));
    if (!Object.hasOwn(keys, '_id')) order.push({ path: '_id', isAscending: order.at(-1)?.isAscending ?? true });
    const name = order.map(({ path, isAscending }) => `${path}${isAscending ? '' : '-'}`).join();
    const columns = order.map(({ path, isAscending }) => `${this.columnOf(path) ?? ''}${isAscending ? '' : ' DESC'}`);
    this.file.run(`CREATE INDEX IF NOT EXISTS ${this.indexName(name)} ON ${this.name} (${columns.join(', ')})`);
  }

  /** Writes new columns of the rows that are there, as they follow from the documents. */
  private fill(columns: ReadonlySet<string>): void {
    const set = [...columns].map((column) => `${column} = ?`).join(', ');
    let last = 0;
    for (;;) {
      const rows = this.file.all(`SELECT ${ROW} FROM ${this.name} WHERE rowid > ? ORDER BY rowid LIMIT 100`, [last]);
      if (rows.length === 0) return;
      for (const row of rows) {
        last = Number(row['rowid']);
        const keys = this.keysOf(this.read(row));
        const values = [...columns].map((column) => keys.columns[this.columns.columns.indexOf(column)] ?? null);
        this.file.run(`UPDATE ${this.name} SET ${set} WHERE rowid = ?`, [...values, last]);
        const isAdded = ({ path }: ElementsOfPath): boolean => columns.has(this.columnOf(path) ?? '');
        this.insertElements(last, keys.elements.filter(isAdded));
      }
    }
  }

  private keysOf(document: StoredDocument): Keys {
    const columns: SqlValue[] = [];
    const elements: ElementsOfPath[] = [];
    const { keys, unique } = this.columns;
    for (const { path, parts } of keys) {
      const { key, elements: values } = keyAtPath(document, parts);
      columns.push(key);
      if (values.length > 0) elements.push({ path, values });
      // An empty array counts, too: it sorts differently.
      if (key instanceof Uint8Array && key[0] === ARRAY_RANK) this.arrayPaths.add(path);
    }
    for (const rule of unique) columns.push(uniqueTextOf(document, rule));
    return { columns, elements };
  }

  /**
   * Reads the lengths, and no text. A subquery for each document would scan the texts each time, since their column and
   * `rowid` differ in affinity.
   * @param condition as in `WHERE`
   */
  bytes(condition: string, values: readonly SqlValue[]): number {
    const sum = (sql: string): number => Number(this.file.get(`SELECT coalesce(${sql}`, values)?.['bytes']);
    const documents = sum(`sum(octet_length(document)), 0) AS bytes FROM ${this.name} WHERE ${condition}`);
    if (!this.hasTexts) return documents;
    const owners = `SELECT rowid FROM ${this.name} WHERE ${condition}`;
    return documents + sum(`sum(octet_length(content)), 0) AS bytes FROM ${this.texts} WHERE owner IN (${owners})`);
  }

  private insertTexts(owner: number, texts: ReadonlyMap<string, string>): void {
    for (const [name, content] of texts) {
      this.hasTexts = true;
      this.file.run(`INSERT OR IGNORE INTO ${this.texts} (owner, name, content) VALUES (?, ?, ?)`, [
        owner,
        name,
        Buffer.from(content),
      ]);
    }
  }

  private insertElements(owner: number, elements: Keys['elements']): void {
    const rows = elements.flatMap(({ path, values }) => values.map((value) => [owner, path, value] as const));
    for (let at = 0; at < rows.length; at += MAX_ROWS) {
      const inserted = rows.slice(at, at + MAX_ROWS);
      this.file.run(this.insertionOf(inserted.length), inserted.flat());
    }
  }

  /** A statement for each number of elements, since most documents of a collection have about as many. */
  private insertionOf(size: number): string {
    const known = this.insertions.get(size);
    if (known !== undefined) return known;
    const places = Array.from({ length: size }, () => '(?, ?, ?)').join(', ');
    // `OR FAIL`: the change takes back what a failed statement has written. Otherwise, SQLite prepares to do that for
    // each statement by itself, which takes ten times as long within a change.
    const insertion = `INSERT OR FAIL INTO ${this.elements} (owner, path, value) VALUES ${places}`;
    this.insertions.set(size, insertion);
    return insertion;
  }

  private textSource(owner: number, name: string) {
    const read = (): Buffer | undefined => {
      const row = this.file.get(`SELECT content FROM ${this.texts} WHERE owner = ? AND name = ?`, [owner, name]);
      return row?.['content'] instanceof Uint8Array ? Buffer.from(row['content']) : undefined;
    };
    const place = `A long text of row ${owner} of ${this.collection} in ${this.file.path}`;
    return { place, read, load: () => Promise.resolve(read()) };
  }

  /** After `open`, or before an existing table is read. */
  readColumns(): void {
    this.layout = undefined;
    this.keyColumns = new Map();
    this.unique = new Map();
    for (const { name } of this.file.all(`PRAGMA table_info(${this.name})`)) {
      const column = String(name);
      const path = pathOfColumn(column);
      if (column.startsWith(`${KEY}:`)) this.keyColumns.set(path, quoted(column));
      const isSparse = column.startsWith(`${SPARSE_UNIQUE}:`);
      if (isSparse || column.startsWith(`${UNIQUE}:`))
        this.unique.set(path, { fields: path.split(','), isSparse, column: quoted(column) });
    }
    this.arrayPaths = new Set(
      [...this.keyColumns].flatMap(([path, column]) =>
        this.file.get(`SELECT 1 FROM ${this.name} WHERE ${column} = ? LIMIT 1`, [ARRAY_KEY]) === undefined
          ? []
          : [path],
      ),
    );
    this.hasTexts = this.file.get(`SELECT 1 FROM ${this.texts} LIMIT 1`) !== undefined;
  }

  private indexName(name: string): string {
    return quoted(`${tableNameOf(this.collection)}/${columnNameOf('', name).slice(1)}`);
  }

  private changing<Result>(change: () => Result): Result {
    try {
      return change();
    } catch (cause) {
      if (!isConstraintError(cause)) throw cause;
      throw new ConflictError(`A document with the same key exists in ${this.collection}.`, { cause });
    }
  }
}

const ARRAY_KEY = toKeyValue([]);
const [ARRAY_RANK] = ARRAY_KEY as Uint8Array;

/** Null for a document that the key does not concern. Equal texts are equal keys. */
function uniqueTextOf(document: StoredDocument, rule: UniqueRule): string | null {
  const key = uniqueKeyOf(document, rule);
  return key === undefined ? null : encodeDocument(key).text;
}

function isSameElements(left: Keys['elements'], right: Keys['elements']): boolean {
  return (
    left.length === right.length &&
    left.every(({ path, values }) => {
      const others = right.find((each) => each.path === path)?.values ?? [];
      return values.length === others.length && values.every((value, at) => isSameKey(value, others[at] ?? null));
    })
  );
}
