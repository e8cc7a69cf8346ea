/**
 * Reads that many requests repeat, such as that of all providers, done again only when a document may have changed. A
 * collection that other processes write to is read each time.
 */
import type { DocumentCollection, StoredDocument } from './DocumentCollection';

const MAX_RESULTS = 1_000;

export class RepeatedReads<Result> {
  private readonly collection: Pick<DocumentCollection<StoredDocument>, 'version'>;
  private readonly results = new Map<string, Result>();
  /** That of the results. */
  private version: number | undefined;

  constructor(collection: Pick<DocumentCollection<StoredDocument>, 'version'>) {
    this.collection = collection;
  }

  /** @param key names what is read */
  async read(key: string, read: () => Promise<Result>): Promise<Result> {
    const { version } = this.collection;
    if (version === undefined) return read();
    const known = version === this.version ? this.results.get(key) : undefined;
    if (known !== undefined) return known;
    const result = await read();
    // What was written meanwhile may be in it or not.
    if (this.collection.version === version) this.keep(version, key, result);
    return result;
  }

  private keep(version: number, key: string, result: Result): void {
    if (version !== this.version || this.results.size >= MAX_RESULTS) this.results.clear();
    this.version = version;
    this.results.set(key, result);
  }
}
