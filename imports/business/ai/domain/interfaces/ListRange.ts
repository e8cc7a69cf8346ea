/** The bounds within which lists of runs and of model calls are read. */

/** Inclusive; absent ones bound nothing. */
export interface ListRange {
  /** Milliseconds since the epoch. */
  readonly from?: number | undefined;
  readonly to?: number | undefined;
  /** US dollars. */
  readonly minCost?: number | undefined;
  readonly maxCost?: number | undefined;
  /** Milliseconds. */
  readonly minDuration?: number | undefined;
  readonly maxDuration?: number | undefined;
}
