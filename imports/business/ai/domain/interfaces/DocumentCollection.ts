/**
 * The one small port under all stores. Selectors and modifiers are the part of MongoDB's that Meteor, the driver
 * and the embedded store share: equality, `$lt $lte $gt $gte $in $nin $ne $exists $or $and`; `$set $unset $inc
 * $push $addToSet $pull`.
 */

export interface StoredDocument {
  /** A string that we make. */
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
  /** @throws ConflictError when `_id` or a unique index is taken */
  insert(document: T): Promise<void>;
  findOne(selector: Selector, options?: Omit<FindOptions, 'limit'>): Promise<T | undefined>;
  find(selector: Selector, options?: FindOptions): Promise<readonly T[]>;
  /**
   * Changes the first match, or all with `multi`. One document's change is atomic, so a selector that names the
   * expected state and a returned 1 make a compare-and-set.
   * @returns how many documents matched
   * @throws ConflictError when a unique index is taken
   */
  update(selector: Selector, modifier: Modifier, options?: { readonly multi?: boolean }): Promise<number>;
  /** @returns how many documents are gone */
  remove(selector: Selector): Promise<number>;
  /** `expireAfterSeconds` counts from the date in the (single) key. Safe to call again. */
  ensureIndex(
    keys: Readonly<Record<string, 1 | -1>>,
    options?: { readonly unique?: boolean; readonly sparse?: boolean; readonly expireAfterSeconds?: number },
  ): Promise<void>;
}
