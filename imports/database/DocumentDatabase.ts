/** Port to a database of named document collections. */
import type { LLMError } from '../business/ai/domain/errors/LLMErrors';
import type { DocumentCollection, StoredDocument } from './DocumentCollection';
import { invalidInput } from './query/fieldPaths';

/** An outage of a database, while it lasts. */
export interface StoreOutage {
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** What the last operation failed with. */
  readonly cause: unknown;
}

export interface DocumentDatabase {
  /** Whether no other process can use the database at the same time. */
  readonly isExclusive: boolean;
  /** Undefined unless the database is known to be unreachable. Absent: it is always there. */
  readonly outage?: StoreOutage | undefined;
  /**
   * Resolves once this process has lost the database for good, with the error that every operation fails with from then
   * on. Absent: it is never lost.
   */
  readonly lost?: Promise<LLMError> | undefined;
  /** Content is stored sealed: it takes a third more bytes, and nothing may be derived from it in plain text. */
  readonly sealsContent?: boolean;
  /**
   * The collection of that name, created by its first insert. Its documents are assumed to be of type `T`: everyone
   * who uses a name must agree on the type.
   * @throws LLMInvalidRequestError for a name of anything but letters, digits, `_` and `-`
   */
  collection<T extends StoredDocument>(name: string): DocumentCollection<T>;
  /**
   * Calls back after other processes have inserted or changed documents in the collections, at the latest when the
   * notifications work again after an interruption.
   * @returns stops it; undefined if the database does not notify. Absent: it never does
   */
  onChange?(names: readonly string[], callback: (name: string) => void): Promise<(() => void) | undefined>;
  /** @throws StorageFullError while writes fail since the disk is full. Absent: the database has no disk of its own. */
  checkRoom?(): Promise<void>;
  /** Removes from the files at once what documents no longer have. Absent: the database reuses its space by itself. */
  purge?(): Promise<void>;
  /** Waits for pending operations. Collections cannot be used afterwards. Safe to call again. */
  close(): Promise<void>;
}

/** A collection for reads that find out whether a database answers. Any one does. */
export const PROBED = 'ai_run_owners';

/** Accepts names that are safe as a file name, in a URL and in MongoDB. */
export function checkCollectionName(name: string): void {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
    throw invalidInput('collection', 'must be named with up to 64 letters, digits, "_" and "-", the first a letter');
}
