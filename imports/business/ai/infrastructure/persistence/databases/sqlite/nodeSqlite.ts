/** The part of `node:sqlite` that the database is built on. Node has it without a flag from 22.13 on. */
import { StoreError } from '../databaseErrors';

export type SqlValue = string | number | null | Uint8Array;
export type SqlRow = Readonly<Record<string, unknown>>;

export interface SqliteStatement {
  all(...values: readonly SqlValue[]): readonly SqlRow[];
  get(...values: readonly SqlValue[]): SqlRow | undefined;
  run(...values: readonly SqlValue[]): { readonly changes: number | bigint; readonly lastInsertRowid: number | bigint };
}

export interface SqliteConnection {
  exec(sql: string): void;
  prepare(sql: string): SqliteStatement;
  close(): void;
}

export interface NodeSqlite {
  readonly DatabaseSync: new (path: string, options?: { readonly readOnly?: boolean }) => SqliteConnection;
}

/** Undefined in a Node without it. Looked up by name, since bundlers for older versions do not know the module. */
export function findSqlite(): NodeSqlite | undefined {
  const emitWarning = process.emitWarning.bind(process);
  // Node 22 calls it experimental. Only what later versions have unchanged is used.
  process.emitWarning = () => undefined;
  try {
    return process.getBuiltinModule('node:sqlite') as NodeSqlite | undefined;
  } finally {
    process.emitWarning = emitWarning;
  }
}

/**
 * @param purpose what cannot be done without it, as the start of a sentence
 * @throws StoreError in a Node without it
 */
export function loadSqlite(purpose: string): NodeSqlite {
  const sqlite = findSqlite();
  if (sqlite === undefined)
    throw new StoreError(
      `${purpose} needs node:sqlite, which Node.js has from 22.13 on; this is ${process.version}. ` +
        'Use a newer Node.js, or set DATA_DIR to another directory.',
    );
  return sqlite;
}
