/** How far a run may go. */

/** What a run may spend at most. A model call that would exceed it is not made. */
export interface Budget {
  /** Model calls. */
  readonly calls?: number;
  /** Input and output tokens. */
  readonly tokens?: number;
  /** US dollars, at the model's list price. */
  readonly money?: number;
}

export interface RunLimits {
  /** Model calls. Those that only deliver late results don't count, up to ten times as many. */
  readonly maxIterations: number;
  /** Consecutive turns in which every tool call failed. */
  readonly maxToolErrors: number;
  readonly maxParallelTools: number;
  /** Milliseconds, not counting the time spent waiting for people and other services. */
  readonly runTimeout: number;
  readonly budget?: Budget;
}
