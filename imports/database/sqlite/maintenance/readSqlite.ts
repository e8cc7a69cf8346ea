/** Opens the database file of a directory to read it, also while a server writes to it, and lists what it contains. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { StoreError } from '../../databaseErrors';
import { collectionOfTable } from '../names';
import { loadSqlite } from '../nodeSqlite';
import type { SqlRow } from '../nodeSqlite';
import { SQLITE_FILE } from '../openSqliteFile';
import { toSqliteError } from '../sqliteErrors';
import { SqliteFile } from '../SqliteFile';
import { SqliteTable } from '../SqliteTable';

/** Whether the directory has a database of SQLite. */
export function hasSqliteFile(directory: string): boolean {
  return existsSync(join(directory, SQLITE_FILE));
}

/** @throws StoreError, CorruptDataFileError for what is no database */
export async function readSqlite<Result>(
  directory: string,
  read: (file: SqliteFile) => Promise<Result>,
): Promise<Result> {
  const path = join(directory, SQLITE_FILE);
  const { DatabaseSync } = loadSqlite();
  let file: SqliteFile;
  try {
    file = new SqliteFile(path, new DatabaseSync(path, { readOnly: true }));
  } catch (cause) {
    throw toSqliteError(`${path} cannot be opened`, path, cause);
  }
  try {
    return await read(file);
  } finally {
    await file.close();
  }
}

/** The tables of the collections. @throws CorruptDataFileError */
export function tablesOf(file: SqliteFile): readonly SqliteTable[] {
  return file.all("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").flatMap(({ name }) => {
    const collection = collectionOfTable(String(name));
    if (collection === undefined) return [];
    const table = new SqliteTable(file, collection);
    table.readColumns();
    return [table];
  });
}

export interface RowRange {
  /** Rows of these numbers cannot be read, if there are any. */
  readonly from: number;
  /** Undefined: to the end of the table. */
  readonly to: number | undefined;
}

const PAGE = 100;

/** Visits the rows of a table, from both ends of what cannot be read. */
export function visitRows(file: SqliteFile, table: SqliteTable, visit: (row: SqlRow) => void): RowRange | undefined {
  const pageOf = (where: string, from: number, size: number): readonly SqlRow[] | undefined => {
    try {
      return file.all(`SELECT * FROM ${table.name} WHERE ${where} LIMIT ${size}`, [from]);
    } catch (error) {
      if (error instanceof StoreError) return undefined;
      throw error;
    }
  };
  let last = -1;
  for (;;) {
    const rows = pageOf('rowid > ? ORDER BY rowid', last, PAGE) ?? pageOf('rowid > ? ORDER BY rowid', last, 1);
    if (rows === undefined) break;
    if (rows.length === 0) return undefined;
    for (const row of rows) {
      visit(row);
      last = Number(row['rowid']);
    }
  }
  let first = Number.MAX_SAFE_INTEGER;
  for (;;) {
    const [row] = pageOf('rowid < ? ORDER BY rowid DESC', first, 1) ?? [];
    if (row === undefined || Number(row['rowid']) <= last)
      return { from: last + 1, to: first === Number.MAX_SAFE_INTEGER ? undefined : first - 1 };
    visit(row);
    first = Number(row['rowid']);
  }
}
