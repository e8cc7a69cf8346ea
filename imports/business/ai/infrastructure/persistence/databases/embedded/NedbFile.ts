/**
 * One collection's file. NeDB does what it is good at (the file, its compaction, the documents in memory, unique
 * keys and look-ups); what selectors and modifiers mean is decided outside, since NeDB's own idea of them is not
 * MongoDB's.
 */
import { promisify } from 'node:util';
import Nedb from '@seald-io/nedb';
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { CorruptDataFileError } from './repairDataFile';
import type { IndexOptions } from '../query/parseIndex';
import type { Scalar } from '../query/scalars';
import { StoreError } from '../databaseErrors';

/** A field, `_id` or an indexed one, whose value the documents sought have: NeDB then looks at those alone. */
export type Lookup = Readonly<Record<string, Exclude<Scalar, null> | { readonly $in: readonly Scalar[] }>>;

export class NedbFile {
  readonly name: string;
  private readonly file: string;
  private readonly nedb: Nedb<StoredDocument>;
  private readonly loaded: Promise<void>;
  private failure: unknown;
  private isClosed = false;
  private isGrown = false;

  /**
   * @param file checked by `checkDataFile`, or not there yet
   */
  constructor(name: string, file: string) {
    this.name = name;
    this.file = file;
    this.nedb = new Nedb<StoredDocument>({
      filename: file,
      corruptAlertThreshold: 0,
      modes: { fileMode: 0o600, dirMode: 0o700 },
      afterSerialization: lineWriter(),
      beforeDeserialization: (line) => line,
    });
    this.loaded = this.nedb.loadDatabaseAsync();
    // Whoever uses the file is told by `ready`.
    this.loaded.catch(() => undefined);
  }

  /** @throws CorruptDataFileError, StoreError when a write has failed or the file is closed */
  async ready(): Promise<void> {
    if (this.isClosed) throw new StoreError(`${this.name} is closed`);
    try {
      await this.loaded;
    } catch (cause) {
      throw new CorruptDataFileError(this.file, undefined, cause);
    }
    if (this.failure !== undefined)
      throw new StoreError(`${this.name} could not be written and has to be opened anew`, { cause: this.failure });
  }

  /**
   * The documents themselves, not copies: NeDB puts a new one in place of an old one and never changes it, nor may
   * the caller.
   */
  async select(lookup: Lookup, isWanted: (document: StoredDocument) => boolean): Promise<readonly StoredDocument[]> {
    await this.ready();
    const found: StoredDocument[] = [];
    // Counting makes no copies; the condition takes what it is shown.
    await this.nedb.countAsync({
      ...lookup,
      $where(this: StoredDocument) {
        if (isWanted(this)) found.push(this);
        return false;
      },
    });
    return found;
  }

  /** @throws ConflictError */
  async insert(document: StoredDocument): Promise<void> {
    await this.write(() => this.nedb.insertAsync(document));
  }

  /** @throws ConflictError */
  async replace(document: StoredDocument): Promise<void> {
    await this.write(() => this.nedb.updateAsync({ _id: document._id }, document, {}));
  }

  async remove(documents: readonly StoredDocument[]): Promise<void> {
    if (documents.length === 0) return;
    await this.write(() =>
      this.nedb.removeAsync({ _id: { $in: documents.map((document) => document._id) } }, { multi: true }),
    );
  }

  /**
   * The file may hold an index of an earlier version of the program with other options, which NeDB would keep.
   * @throws ConflictError when documents have the same key already
   */
  async buildIndex(fields: readonly string[], options: IndexOptions): Promise<void> {
    await this.write(async () => {
      await this.nedb.removeIndexAsync(fields.toSorted().join());
      await this.nedb.ensureIndexAsync({
        fieldName: [...fields],
        unique: options.unique === true,
        sparse: options.sparse === true,
      });
    });
  }

  /** Writes the file anew without what is out of date, if anything was written since the last time. */
  async compact(): Promise<void> {
    await this.ready();
    if (!this.isGrown) return;
    this.isGrown = false;
    await this.nedb.compactDatafileAsync();
  }

  /** Nothing touches the file afterwards, not even a load that was under way. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled([this.loaded]);
  }

  /**
   * NeDB changes its memory first and then appends to the file. When the append fails the two differ, and half a
   * line may be written that the next append would make part of a line in the middle; so that is the last thing
   * this file does.
   */
  private async write(action: () => Promise<unknown>): Promise<void> {
    await this.ready();
    try {
      await action();
      this.isGrown = true;
    } catch (cause) {
      if (isUniqueViolation(cause)) throw new ConflictError(`a key is taken in ${this.name}`, { cause });
      this.failure = cause;
      throw new StoreError(`${this.name} could not be written`, { cause });
    }
  }
}

/** Lines between two looks at what else is to be done, when a whole file is written. */
const LINES_IN_A_TURN = 200;
const nextTurn = promisify(setImmediate);

function lineWriter(): (line: string) => Promise<string> {
  let lines = 0;
  return async (line) => {
    lines += 1;
    if (lines % LINES_IN_A_TURN === 0) await nextTurn();
    return escapeLineSeparators(line);
  };
}

/** NeDB ends a line at each of these when it reads, and JSON leaves them as they are. */
function escapeLineSeparators(line: string): string {
  return line.replace(
    /[\u0085\u2028\u2029]/g,
    (separator) => `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isUniqueViolation(cause: unknown): boolean {
  return cause instanceof Error && 'errorType' in cause && cause.errorType === 'uniqueViolated';
}
