/**
 * One collection's file. NeDB manages the file, its compaction, the documents in memory, unique keys and lookups.
 * Selectors and modifiers are evaluated outside, since NeDB interprets them differently from MongoDB.
 */
import { promisify } from 'node:util';
import Nedb from '@seald-io/nedb';
import { ConflictError } from '../../../../domain/errors/LLMErrors';
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';
import { CorruptDataFileError } from './repairDataFile';
import type { IndexOptions } from '../query/parseIndex';
import type { Scalar } from '../query/scalars';
import { StoreError } from '../databaseErrors';

/** A condition on `_id` or an indexed field, so that NeDB scans only the documents that fulfil it. */
export type Lookup = Readonly<Record<string, Exclude<Scalar, null> | { readonly $in: readonly Scalar[] }>>;

export class NedbFile {
  readonly name: string;
  private readonly file: string;
  private readonly nedb: Nedb<StoredDocument>;
  private readonly loaded: Promise<void>;
  private failure: unknown;
  private isClosed = false;
  private hasNewWrites = false;

  /** @param file checked by `repairDataFile`, or a file that doesn't exist yet */
  constructor(name: string, file: string) {
    this.name = name;
    this.file = file;
    this.nedb = new Nedb<StoredDocument>({
      filename: file,
      corruptAlertThreshold: 0,
      modes: { fileMode: 0o600, dirMode: 0o700 },
      afterSerialization: createLineWriter(),
      beforeDeserialization: (line) => line,
    });
    this.loaded = this.nedb.loadDatabaseAsync();
    // `ready` reports the failure to every user of the file.
    this.loaded.catch(() => undefined);
  }

  /** @throws CorruptDataFileError, StoreError when a write has failed or the file is closed */
  async ready(): Promise<void> {
    if (this.isClosed) throw new StoreError(`The collection ${this.name} is closed.`);
    try {
      await this.loaded;
    } catch (cause) {
      throw new CorruptDataFileError(this.file, undefined, cause);
    }
    if (this.failure !== undefined)
      throw new StoreError(`The collection ${this.name} could not be written. Restart the process to reopen it.`, {
        cause: this.failure,
      });
  }

  /** Returns the documents themselves, not copies. NeDB replaces documents and never mutates them; nor may callers. */
  async select(lookup: Lookup, isMatch: (document: StoredDocument) => boolean): Promise<readonly StoredDocument[]> {
    await this.ready();
    const found: StoredDocument[] = [];
    // Counting copies no documents, so the condition collects them.
    await this.nedb.countAsync({
      ...lookup,
      $where(this: StoredDocument) {
        if (isMatch(this)) found.push(this);
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
   * Replaces an existing index, since NeDB would retain the options that an earlier version of the program gave it.
   * @throws ConflictError if documents already share a unique key
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

  /** Rewrites the file without outdated lines, if anything was written since the last time. */
  async compact(): Promise<void> {
    await this.ready();
    if (!this.hasNewWrites) return;
    this.hasNewWrites = false;
    await this.nedb.compactDatafileAsync();
  }

  /** Nothing touches the file afterwards, not even a pending load. */
  async close(): Promise<void> {
    this.isClosed = true;
    await Promise.allSettled([this.loaded]);
  }

  /**
   * NeDB changes its memory first and then appends to the file. After a failed append the two differ, and the file may
   * end in half a line that the next append would turn into a damaged one. So a failed write is the last one.
   */
  private async write(action: () => Promise<unknown>): Promise<void> {
    await this.ready();
    try {
      await action();
      this.hasNewWrites = true;
    } catch (cause) {
      if (isUniqueViolation(cause))
        throw new ConflictError(`A document with the same key exists in ${this.name}.`, { cause });
      this.failure = cause;
      throw new StoreError(`The collection ${this.name} could not be written.`, { cause });
    }
  }
}

/** How many lines are serialized before other tasks get a turn, while an entire file is written. */
const LINES_PER_TICK = 200;
const nextTick = promisify(setImmediate);

function createLineWriter(): (line: string) => Promise<string> {
  let lines = 0;
  return async (line) => {
    lines += 1;
    if (lines % LINES_PER_TICK === 0) await nextTick();
    return escapeLineSeparators(line);
  };
}

/** NeDB splits lines at these characters, and JSON does not escape them. */
function escapeLineSeparators(line: string): string {
  return line.replace(
    /[\u0085\u2028\u2029]/g,
    (separator) => `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}

function isUniqueViolation(cause: unknown): boolean {
  return cause instanceof Error && 'errorType' in cause && cause.errorType === 'uniqueViolated';
}
