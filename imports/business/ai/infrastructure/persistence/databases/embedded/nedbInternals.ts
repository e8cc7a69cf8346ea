/** What of NeDB is used beyond its interface. */
import type Nedb from '@seald-io/nedb';
import type { StoredDocument } from '../../../../domain/interfaces/DocumentCollection';

export interface NedbIndex {
  readonly fieldName: string;
  readonly unique: boolean;
  readonly sparse: boolean;
  getMatching(key: string): readonly StoredDocument[];
}

/** What NeDB calls for its file. */
export interface NedbPersistence {
  /** Called after a file has been loaded. */
  persistCachedDatabaseAsync(): Promise<void>;
  /** Appends to the file. */
  persistNewStateAsync(records: readonly object[]): Promise<void>;
}

/** Where NeDB finds its documents. */
export function indexesOf(
  nedb: Nedb<StoredDocument>,
): Readonly<Record<string, NedbIndex>> & { readonly _id: NedbIndex } {
  return (nedb as object as { readonly indexes: ReturnType<typeof indexesOf> }).indexes;
}

export function persistenceOf(nedb: Nedb<StoredDocument>): NedbPersistence {
  return nedb.persistence as object as NedbPersistence;
}
