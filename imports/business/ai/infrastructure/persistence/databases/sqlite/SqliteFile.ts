/**
 * A database file that this process writes to. Changes that arrive together share a transaction: what they write is
 * written once, and a change that fails takes back itself alone. The promise of a change resolves after the commit.
 */
import { promisify } from 'node:util';
import { isLLMError } from '../../../../domain/errors/LLMErrors';
import { StoreError } from '../databaseErrors';
import type { SqliteConnection, SqliteStatement, SqlRow, SqlValue } from './nodeSqlite';
import { isConstraintError, toSqliteError } from './sqliteErrors';

/** Milliseconds that a transaction takes before other tasks get a turn. */
const SLICE_MS = 15;
/** Prepared statements that are kept. */
const MAX_STATEMENTS = 500;
const nextTurn = promisify(setImmediate);

interface Change {
  readonly apply: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class SqliteFile {
  readonly path: string;
  private readonly connection: SqliteConnection;
  private readonly statements = new Map<string, SqliteStatement>();
  private pending: Change[] = [];
  private flushing: Promise<void> | undefined;
  private isClosed = false;
  private committed = 0;

  constructor(path: string, connection: SqliteConnection) {
    this.path = path;
    this.connection = connection;
  }

  /** Changes with each transaction. */
  get version(): number {
    return this.committed;
  }

  /** @throws StoreError, CorruptDataFileError */
  all(sql: string, values: readonly SqlValue[] = []): readonly SqlRow[] {
    return this.execute(sql, (statement) => statement.all(...values));
  }

  /** @throws StoreError, CorruptDataFileError */
  get(sql: string, values: readonly SqlValue[] = []): SqlRow | undefined {
    return this.execute(sql, (statement) => statement.get(...values));
  }

  /** Only within a change. @returns the number of changed rows */
  run(sql: string, values: readonly SqlValue[] = []): number {
    return Number(this.execute(sql, (statement) => statement.run(...values)).changes);
  }

  /** Only within a change. @returns the number of the new row */
  insert(sql: string, values: readonly SqlValue[] = []): number {
    return Number(this.execute(sql, (statement) => statement.run(...values)).lastInsertRowid);
  }

  /**
   * @param change reads and writes at once, without waiting for anything
   * @throws what `change` throws, StoreError, StorageFullError
   */
  write<Result>(change: () => Result): Promise<Result> {
    if (this.isClosed) throw new StoreError(`The database ${this.path} is closed.`);
    return new Promise<Result>((resolve, reject) => {
      this.pending.push({ apply: change, resolve: (result) => resolve(result as Result), reject });
      this.flushing ??= this.flush();
    });
  }

  /**
   * Writes what the log has to the file, and empties the log.
   * @returns false if another process is reading, so that the log has to stay
   */
  emptyLog(): boolean {
    return this.get('PRAGMA wal_checkpoint(TRUNCATE)')?.['busy'] === 0;
  }

  /** Waits for pending changes, and for those of operations that have begun. */
  async close(): Promise<void> {
    do {
      await nextTurn();
      await this.flushing;
    } while (this.pending.length > 0);
    this.isClosed = true;
    this.statements.clear();
    try {
      this.connection.close();
    } catch (cause) {
      throw toSqliteError(`${this.path} could not be closed`, this.path, cause);
    }
  }

  private async flush(): Promise<void> {
    while (this.pending.length > 0) {
      // What other tasks of this turn write joins the transaction, and others get a turn between two.
      await nextTurn();
      try {
        this.commit();
      } catch (error) {
        for (const { reject } of this.pending.splice(0)) reject(error);
      }
    }
    this.flushing = undefined;
  }

  private commit(): void {
    const until = performance.now() + SLICE_MS;
    const done: (() => void)[] = [];
    const taken: Change[] = [];
    try {
      this.connection.exec('BEGIN IMMEDIATE');
      while (this.pending.length > 0 && (taken.length === 0 || performance.now() < until)) {
        const change = this.pending.shift();
        if (change === undefined) break;
        taken.push(change);
        done.push(this.applied(change));
      }
      this.connection.exec('COMMIT');
    } catch (cause) {
      this.rollBack();
      const error = toSqliteError(`${this.path} could not be written`, this.path, cause);
      for (const { reject } of taken) reject(error);
      if (taken.length === 0) throw error;
      return;
    }
    this.committed += 1;
    for (const settle of done) settle();
  }

  /** @throws what makes the whole transaction fail */
  private applied({ apply, resolve, reject }: Change): () => void {
    this.execute('SAVEPOINT change', (statement) => statement.run());
    try {
      const result = apply();
      this.execute('RELEASE change', (statement) => statement.run());
      return () => resolve(result);
    } catch (error) {
      this.rollBackTo('change', error);
      return () => reject(error);
    }
  }

  /** @throws `error` if SQLite has rolled back the whole transaction because of it, as on a full disk */
  private rollBackTo(savepoint: string, error: unknown): void {
    try {
      this.connection.exec(`ROLLBACK TO ${savepoint}`);
      this.connection.exec(`RELEASE ${savepoint}`);
    } catch {
      throw error;
    }
  }

  private rollBack(): void {
    try {
      this.connection.exec('ROLLBACK');
    } catch {
      // There is no transaction: it could not begin, or SQLite has rolled it back.
    }
  }

  private execute<Result>(sql: string, use: (statement: SqliteStatement) => Result): Result {
    try {
      return use(this.prepared(sql));
    } catch (cause) {
      if (isLLMError(cause) || isConstraintError(cause)) throw cause;
      throw toSqliteError(`${this.path} could not be used`, this.path, cause);
    }
  }

  private prepared(sql: string): SqliteStatement {
    const existing = this.statements.get(sql);
    const statement = existing ?? this.connection.prepare(sql);
    if (existing === undefined && this.statements.size >= MAX_STATEMENTS) {
      const [oldest = ''] = this.statements.keys();
      this.statements.delete(oldest);
    } else this.statements.delete(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}
