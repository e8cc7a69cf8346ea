/** Sums over the model calls of a run. */
import type { Usage } from './ResponsesAPITypes';

/** What the model calls of a run used and cost so far. */
export interface RunSums {
  readonly usage: Usage;
  /** US dollars: the sum of what is known of the cost of the calls. Absent: nothing is. */
  readonly cost?: number;
  /** Absent: the cost of every call is known. */
  readonly unpriced?: UnpricedCalls;
}

export interface RunTotals extends RunSums {
  /** The models that responded, by the names that vendors report. Absent: none has. */
  readonly models?: readonly string[];
}

/** The calls whose cost, or a part of it, is unknown. */
export interface UnpricedCalls {
  readonly calls: number;
  /** The models that were requested, or that responded. */
  readonly models: readonly string[];
  /** Each reason once, as in `response.vendor.unpriced`. */
  readonly reasons: readonly string[];
}
