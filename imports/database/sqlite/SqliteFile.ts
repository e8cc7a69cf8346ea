/**
 * A database file that this process writes to. Changes that arrive together are applied together, and a change that
 * fails takes back itself alone. The promise of a change resolves once it is in the log, or committed. The transaction
 * of many changes stays open for a while, since what they write to the same pages is then written once.
 */
import { LRUCache } from 'lru-cache';
import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { isLLMError, StorageFullError } from '../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../business/ai/domain/errors/LLMErrors';
import { StoreLostError } from '../../business/ai/domain/errors/StoreLostError';
import { StoreError } from '../databaseErrors';
import type { ChangeLog, LoggedStatement } from './ChangeLog';
import { CheckpointThread } from './CheckpointThread';
import type { SqliteConnection, SqliteStatement, SqlRow, SqlValue } from './nodeSqlite';
import { isConstraintError, toSqliteError } from './sqliteErrors';

/** Milliseconds that changes are applied before other tasks get a turn. */
const SLICE_MS = 8;
/** Prepared statements that are kept. */
const MAX_STATEMENTS = 500;
/** Bytes in the log, changed rows, and milliseconds after which the transaction is committed. */
const [MAX_LOGGED, MAX_ROWS, MAX_OPEN_MS] = [1_024 * 1_024, 10_000, 30_000];
/** Bytes in SQLite's own log after which it is written to the file. */
const MAX_WAL = 16 * 1_024 * 1_024;
const nextTurn = promisify(setImmediate);

interface Change {
  readonly apply: () => unknown;
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
}

export class SqliteFile {
  readonly path: string;
  private readonly connection: SqliteConnection;
  private readonly log: ChangeLog | undefined;
  private readonly checkpoints: CheckpointThread;
  private isCheckpointFailing = false;
  private readonly statements = new LRUCache<string, SqliteStatement>({ max: MAX_STATEMENTS });
  private pending: Change[] = [];
  private flushing: Promise<void> | undefined;
  private isClosed = false;
  private applied = 0;
  private isOpen = false;
  private timer: NodeJS.Timeout | undefined;
  private changedRows = 0;
  /** The number of the last commit. */
  private state = 0;
  /** What the changes of this turn have executed. */
  private executed: LoggedStatement[] = [];
  /** The last change had no room. */
  private isFull = false;
  /** Set once the file cannot be used any more, until the next start. */
  private failure: LLMError | undefined;
  private readonly failing = Promise.withResolvers<LLMError>();

  /** @param log without one, each transaction is committed at once */
  constructor(path: string, connection: SqliteConnection, log?: ChangeLog) {
    this.path = path;
    this.connection = connection;
    this.log = log;
    this.checkpoints = new CheckpointThread(path);
    if (log === undefined) return;
    this.state = Number(this.get(STATE)?.['number']);
    this.recover(log);
  }

  /** Resolves once every operation fails, with the error. */
  get failed(): Promise<LLMError> {
    return this.failing.promise;
  }

  get isFailed(): boolean {
    return this.failure !== undefined;
  }

  /** Changes when changes are applied. */
  get version(): number {
    return this.applied;
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
    return Number(this.change(sql, values).changes);
  }

  /** Only within a change. @returns the number of the new row */
  insert(sql: string, values: readonly SqlValue[] = []): number {
    return Number(this.change(sql, values).lastInsertRowid);
  }

  /**
   * @param change reads and writes at once, without waiting for anything. Its statements may be executed again
   * @throws what `change` throws, StoreError, StorageFullError
   */
  write<Result>(change: () => Result): Promise<Result> {
    if (this.isClosed) throw new StoreError(`The database ${this.path} is closed.`);
    return new Promise<Result>((resolve, reject) => {
      this.pending.push({ apply: change, resolve: (result) => resolve(result as Result), reject });
      this.flushing ??= this.flush();
    });
  }

  /** Tries a write if the last one had no room. @throws StorageFullError, StoreError */
  async checkRoom(): Promise<void> {
    if (this.isFull) await this.write(() => this.run(SAME_STATE));
  }

  /**
   * Commits, writes what SQLite's own log has to the file, and empties both logs.
   * @returns false if another process is reading, so that SQLite's log has to stay
   * @throws StoreError, StorageFullError
   */
  emptyLog(): boolean {
    this.commit();
    return this.get('PRAGMA wal_checkpoint(TRUNCATE)')?.['busy'] === 0;
  }

  /** Gives up the file, which this process has lost. @param problem `/data/bolide.sqlite was removed` */
  lose(problem: string): LLMError {
    const error = new StoreLostError(
      `The data directory ${dirname(this.path)} is lost to this process: ${problem}. Put the directory in order, or ` +
        'set DATA_DIR to another one, and start the program again. One process at a time may use a directory.',
    );
    this.fail(error);
    return error;
  }

  /** @throws StoreLostError if another process has committed, whatever the lock says */
  checkState(): void {
    if (Number(this.get(STATE)?.['number']) !== this.state)
      throw this.lose(`another process has written to ${this.path}`);
  }

  /** Waits for pending changes, and for those of operations that have begun. */
  async close(): Promise<void> {
    do {
      await nextTurn();
      await this.flushing;
    } while (this.pending.length > 0);
    this.isClosed = true;
    let isCommitted = false;
    try {
      this.commit();
      // After a failure, the log is all that has what was acknowledged, or it is another process's.
      isCommitted = this.failure === undefined;
    } catch (error) {
      // What the disk has no room for is in the log, which the next start reads.
      if (!(error instanceof StorageFullError) || this.log === undefined) throw error;
    } finally {
      clearTimeout(this.timer);
      this.statements.clear();
      this.log?.close(isCommitted);
      // The last connection that is closed empties SQLite's log.
      await this.checkpoints.close();
      this.closeConnection();
    }
  }

  private closeConnection(): void {
    try {
      this.connection.close();
    } catch (cause) {
      throw toSqliteError(`${this.path} could not be closed`, this.path, cause);
    }
  }

  private async flush(): Promise<void> {
    while (this.pending.length > 0) {
      // What other tasks of this turn write is applied together, and others get a turn between two.
      await nextTurn();
      this.applyPending();
      // SQLite's log begins anew only if a transaction begins when all of it is in the file.
      if (this.isWalFull) await this.checkpoint();
    }
    this.flushing = undefined;
  }

  /** What fails, as on a full disk, stays in SQLite's log until the next checkpoint. */
  private async checkpoint(): Promise<void> {
    const failure = await this.checkpoints.checkpoint().catch(() => this.checkpointHere());
    // Once for all that fail in a row.
    if (failure !== undefined && !this.isCheckpointFailing) warn(failure);
    this.isCheckpointFailing = failure !== undefined;
  }

  /** Without a thread, it is this one's work. @returns what has failed */
  private checkpointHere(): unknown {
    try {
      this.connection.exec('PRAGMA wal_checkpoint(PASSIVE)');
      return undefined;
    } catch (error) {
      return error;
    }
  }

  private get isWalFull(): boolean {
    if (this.log === undefined || this.isOpen || this.failure !== undefined) return false;
    return (statSync(`${this.path}-wal`, { throwIfNoEntry: false })?.size ?? 0) > MAX_WAL;
  }

  private applyPending(): void {
    const until = performance.now() + SLICE_MS;
    const done: (() => void)[] = [];
    const taken: Change[] = [];
    this.executed = [];
    try {
      this.begin();
      this.connection.exec('SAVEPOINT batch');
      while (this.pending.length > 0 && (taken.length === 0 || performance.now() < until)) {
        const change = this.pending.shift();
        if (change === undefined) break;
        taken.push(change);
        done.push(this.settled(change));
      }
      this.keep();
      if (this.isOpen) this.connection.exec('RELEASE batch');
    } catch (cause) {
      const error = toSqliteError(`${this.path} could not be written`, this.path, cause);
      this.isFull = error instanceof StorageFullError;
      this.takeBackBatch();
      // Nothing could begin.
      if (taken.length === 0) taken.push(...this.pending.splice(0));
      for (const { reject } of taken) reject(error);
      return;
    }
    if (this.executed.length > 0) this.isFull = false;
    this.applied += 1;
    for (const settle of done) settle();
  }

  /** Makes what was executed survive a crash of this process. */
  private keep(): void {
    const isMany = (this.log?.size ?? 0) > MAX_LOGGED || this.changedRows > MAX_ROWS;
    if (this.log === undefined || isMany) this.commit();
    else if (this.executed.length > 0) this.log.append(this.executed, this.state);
  }

  private begin(): void {
    if (this.failure !== undefined) throw this.failure;
    if (this.isOpen) return;
    this.connection.exec('BEGIN IMMEDIATE');
    this.isOpen = true;
    this.changedRows = 0;
    if (this.log === undefined) return;
    this.timer = setTimeout(() => this.commitLater(), MAX_OPEN_MS);
    this.timer.unref();
    this.checkState();
  }

  /** What fails stays in the log, and is tried again with the next change. */
  private commitLater(): void {
    try {
      this.commit();
    } catch (error) {
      warn(error);
    }
  }

  private commit(): void {
    if (!this.isOpen) return;
    clearTimeout(this.timer);
    try {
      if (this.log !== undefined) this.execute(NEXT_STATE, (statement) => statement.run());
      this.connection.exec('COMMIT');
    } catch (cause) {
      this.takeBack();
      throw toSqliteError(`${this.path} could not be written`, this.path, cause);
    }
    this.isOpen = false;
    this.state += 1;
    try {
      this.log?.clear();
    } catch (error) {
      // The log belongs to an earlier state now, and the next change empties it.
      warn(error);
    }
  }

  private takeBackBatch(): void {
    try {
      this.connection.exec('ROLLBACK TO batch');
      this.connection.exec('RELEASE batch');
      // Without a log, the transaction is over.
      if (this.log === undefined) this.takeBack();
    } catch {
      // SQLite has rolled back the whole transaction, as on a full disk, or it could not begin.
      this.takeBack();
    }
  }

  /** Returns to what was acknowledged. */
  private takeBack(): void {
    try {
      this.connection.exec('ROLLBACK');
    } catch {
      // No transaction is open.
    }
    this.isOpen = false;
    clearTimeout(this.timer);
    if (this.log === undefined || this.failure !== undefined) return;
    try {
      this.recover(this.log);
    } catch (cause) {
      this.fail(toSqliteError(`${this.path} has to be opened again`, this.path, cause));
    }
  }

  private fail(error: LLMError): void {
    if (this.failure !== undefined) return;
    this.failure = error;
    this.takeBack();
    this.failing.resolve(error);
  }

  private recover(log: ChangeLog): void {
    const records = log.read(this.state);
    if (records.length === 0) return;
    this.begin();
    for (const { sql, values } of records.flat()) this.execute(sql, (statement) => statement.run(...values));
  }

  /** @throws what makes the whole batch fail */
  private settled({ apply, resolve, reject }: Change): () => void {
    const executed = this.executed.length;
    this.execute('SAVEPOINT change', (statement) => statement.run());
    try {
      const result = apply();
      this.execute('RELEASE change', (statement) => statement.run());
      return () => resolve(result);
    } catch (error) {
      this.executed.length = executed;
      this.rollBackTo('change', error);
      return () => reject(error);
    }
  }

  /** @throws `error` if SQLite has rolled back the whole transaction because of it */
  private rollBackTo(savepoint: string, error: unknown): void {
    try {
      this.connection.exec(`ROLLBACK TO ${savepoint}`);
      this.connection.exec(`RELEASE ${savepoint}`);
    } catch {
      throw error;
    }
  }

  private change(sql: string, values: readonly SqlValue[]): ReturnType<SqliteStatement['run']> {
    const result = this.execute(sql, (statement) => statement.run(...values));
    if (this.log !== undefined) this.executed.push({ sql, values });
    this.changedRows += Number(result.changes);
    return result;
  }

  private execute<Result>(sql: string, use: (statement: SqliteStatement) => Result): Result {
    if (this.failure !== undefined) throw this.failure;
    try {
      return use(this.prepared(sql));
    } catch (cause) {
      if (isLLMError(cause) || isConstraintError(cause)) throw cause;
      throw toSqliteError(`${this.path} could not be used`, this.path, cause);
    }
  }

  private prepared(sql: string): SqliteStatement {
    const known = this.statements.get(sql);
    if (known !== undefined) return known;
    const statement = this.connection.prepare(sql);
    this.statements.set(sql, statement);
    return statement;
  }
}

/** Reports a failure that loses nothing. */
export function warn(error: unknown): void {
  process.emitWarning(error instanceof Error ? error : String(error));
}

/** A table that no collection has, of one row. */
export const STATE_TABLE = 'CREATE TABLE IF NOT EXISTS "log.state" AS SELECT 0 AS number';
const STATE = 'SELECT number FROM "log.state"';
const SAME_STATE = 'UPDATE "log.state" SET number = number';
const NEXT_STATE = 'UPDATE "log.state" SET number = number + 1';
