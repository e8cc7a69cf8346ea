/**
 * The port that all stores are built on. Selectors and modifiers are the subset of MongoDB's that Meteor, the driver
 * and the embedded store share: equality, `$lt $lte $gt $gte $in $nin $ne $exists $or $and`; `$set $unset $inc $push
 * $addToSet $pull`. `$prefix` is Bolide's own: `{ title: { $prefix: 'Re' } }` matches strings that start with "Re", by
 * case. A condition on an array holds if one element fulfils it.
 */

export interface StoredDocument {
  /** A string that Bolide generates. */
  readonly _id: string;
}

export type Selector = Readonly<Record<string, unknown>>;

export interface Modifier {
  readonly $set?: Readonly<Record<string, unknown>>;
  readonly $unset?: Readonly<Record<string, true>>;
  readonly $inc?: Readonly<Record<string, number>>;
  readonly $push?: Readonly<Record<string, unknown>>;
  readonly $addToSet?: Readonly<Record<string, unknown>>;
  readonly $pull?: Readonly<Record<string, unknown>>;
}

export interface Upsert {
  readonly _id: string;
  /** What else a stored document must match. */
  readonly selector: Selector;
  readonly modifier: Pick<Modifier, '$unset'> & Required<Pick<Modifier, '$set'>>;
}

export interface FindOptions {
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  readonly limit?: number;
  readonly fields?: Readonly<Record<string, 1>>;
}

export type Scalar = string | number | boolean | null | Date;

/** An interval of time as a group's key: the start of the interval, in milliseconds since the epoch. */
export interface TimeInterval {
  /** A field with milliseconds since the epoch or a date. */
  readonly path: string;
  /** Milliseconds. */
  readonly width: number;
  /** Milliseconds by which the intervals start before those of UTC: the offset of the local time. Default: 0. */
  readonly offset?: number;
}

export interface Aggregation {
  /** The parts of a group's key. Without any, all documents form one group. */
  readonly by?: Readonly<Record<string, string | TimeInterval>>;
  /** An array whose elements take its place one at a time, so that a document counts once per element. */
  readonly unwind?: string;
  /** Names of sums, with the paths of numbers. A document without a number there contributes 0. */
  readonly sum?: Readonly<Record<string, string>>;
  /** Names of least values, with their paths. */
  readonly min?: Readonly<Record<string, string>>;
  /** Names of greatest values, with their paths. */
  readonly max?: Readonly<Record<string, string>>;
  /** Returns the groups with the most documents. Default: all. */
  readonly limit?: number;
}

export interface AggregateRow {
  /** Null for documents whose field is missing, null, an object or an array. */
  readonly key: Readonly<Record<string, Scalar>>;
  /** Documents, or with `unwind` elements. */
  readonly count: number;
  /** `count` is the number of documents that have a number there. */
  readonly sum: Readonly<Record<string, { readonly total: number; readonly count: number }>>;
  /** Null if no document has a scalar there. */
  readonly min: Readonly<Record<string, Scalar>>;
  readonly max: Readonly<Record<string, Scalar>>;
}

export interface DocumentCollection<T extends StoredDocument> {
  /** Another number after each write of a document. Absent if other processes may write, too, or after a loss. */
  readonly version?: number | undefined;
  /** @throws ConflictError if `_id` or a unique index already has the value */
  insert(document: T): Promise<void>;
  /**
   * Faster than one `insert` per document. If one cannot be inserted, those before it may have been.
   * @throws as `insert` does
   */
  insertMany(documents: readonly T[]): Promise<void>;
  findOne(selector: Selector, options?: Omit<FindOptions, 'limit'>): Promise<T | undefined>;
  find(selector: Selector, options?: FindOptions): Promise<readonly T[]>;
  /** Exact, and computed by the database. */
  count(selector: Selector): Promise<number>;
  /**
   * About how many bytes the matching documents take, in UTF-8.
   * @param texts paths of their long texts, for databases that do not know the size of a document
   */
  bytes(selector: Selector, texts: readonly string[]): Promise<number>;
  /** Groups the matching documents: the largest groups first, groups of the same size in the order of their keys. */
  aggregate(selector: Selector, aggregation: Aggregation): Promise<readonly AggregateRow[]>;
  /**
   * Updates the first match, or all with `multi`. The update of one document is atomic, so a selector that includes the
   * expected state and a returned 1 form a compare-and-set.
   * @returns how many documents matched
   * @throws ConflictError if a unique index already has the value
   */
  update(selector: Selector, modifier: Modifier, options?: { readonly multi?: boolean }): Promise<number>;
  /**
   * Updates the documents with the given ids, and inserts those that there are none of: `$set` is such a document's
   * content. One round trip if the database has a command for it; each document is written atomically.
   * @returns how many were written; and how many of them were inserted. A document that does not match its `selector`
   *   is left as it is
   */
  upsertMany(changes: readonly Upsert[]): Promise<{ readonly written: number; readonly inserted: number }>;
  /** @returns how many documents were removed */
  remove(selector: Selector): Promise<number>;
  /**
   * `expireAfterSeconds` counts from the date in the (single) key. `_id` may be the last key, for sorts that end with
   * it. Idempotent.
   */
  ensureIndex(
    keys: Readonly<Record<string, 1 | -1>>,
    options?: { readonly unique?: boolean; readonly sparse?: boolean; readonly expireAfterSeconds?: number },
  ): Promise<void>;
}
