/** Where collections come from, whichever database is behind them. */
import type { DocumentCollection, StoredDocument } from '../../../domain/interfaces/DocumentCollection';
import { refused } from '../documents/refused';

export interface DocumentDatabase {
  /** This process has it for itself. */
  readonly isExclusive: boolean;
  /**
   * The collection of that name, made when something is first put into it. Its documents are taken to be of type
   * `T`: who shares a name shares the type.
   * @throws LLMInvalidRequestError for a name that isn't letters, digits, `_` and `-`
   */
  collection<T extends StoredDocument>(name: string): DocumentCollection<T>;
  /** Waits for what is under way. Collections can't be used afterwards. Safe to call again. */
  close(): Promise<void>;
}

/** Names that are safe as a file's name, in a URL and in MongoDB. */
export function checkCollectionName(name: string): void {
  if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(name))
    throw refused('collection', 'has a name that databases do not share');
}
