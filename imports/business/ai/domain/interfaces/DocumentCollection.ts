/**
 * The port that all stores are built on. Selectors and modifiers are the subset of MongoDB's that Meteor, the driver
 * and the embedded store share: equality, `$lt $lte $gt $gte $in $nin $ne $exists $or $and`; `$set $unset $inc $push
 * $addToSet $pull`.
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

export interface FindOptions {
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  readonly limit?: number;
  readonly fields?: Readonly<Record<string, 1>>;
}

export interface DocumentCollection<T extends StoredDocument> {
  /** @throws ConflictError if `_id` or a unique index already has the value */
  insert(document: T): Promise<void>;
  findOne(selector: Selector, options?: Omit<FindOptions, 'limit'>): Promise<T | undefined>;
  find(selector: Selector, options?: FindOptions): Promise<readonly T[]>;
  /**
   * Updates the first match, or all with `multi`. The update of one document is atomic, so a selector that includes the
   * expected state and a returned 1 form a compare-and-set.
   * @returns how many documents matched
   * @throws ConflictError if a unique index already has the value
   */
  update(selector: Selector, modifier: Modifier, options?: { readonly multi?: boolean }): Promise<number>;
  /** @returns how many documents were removed */
  remove(selector: Selector): Promise<number>;
  /** `expireAfterSeconds` counts from the date in the (single) key. Idempotent. */
  ensureIndex(
    keys: Readonly<Record<string, 1 | -1>>,
    options?: { readonly unique?: boolean; readonly sparse?: boolean; readonly expireAfterSeconds?: number },
  ): Promise<void>;
}
