/** The part of `node:sqlite` that the database is built on. Node has it without a flag from 22.13 on. */

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

/** Looked up by name, since bundlers for older versions do not know the module. */
export function loadSqlite(): NodeSqlite {
  const emitWarning = process.emitWarning.bind(process);
  // Node 22 and 24 call it experimental. Only what later versions have unchanged is used.
  process.emitWarning = (warning: string | Error, ...details: never[]): void => {
    if (!String(warning).startsWith('SQLite is an experimental feature')) emitWarning(warning, ...details);
  };
  try {
    return process.getBuiltinModule('node:sqlite') as NodeSqlite;
  } finally {
    process.emitWarning = emitWarning;
  }
}
