/** How the history of a run is kept within the model's context window, and what became of it. */

/** Where the history is shortened. */
export interface CompactionOptions {
  /**
   * Tokens of the model's context window. Default: what is known of the model. Of a model of which nothing is known,
   * the history is compacted only after the vendor has refused it as too long.
   */
  readonly window?: number;
  /** The share of the window that a request may fill before the history is compacted; from 0.1 to 1. Default 0.8. */
  readonly threshold?: number;
  /** Writes the summaries. Default: the run's model. */
  readonly model?: string;
  /** Indexes in `input` of what is never dropped, beside all instructions, the first and the last user message. */
  readonly pinned?: readonly number[];
  /** That of an earlier run, whose transcript `input` begins with: what it left out is not summarized again. */
  readonly from?: RunCompaction;
}

/** `false`: the history is always sent whole, and a run whose history outgrows the window fails. */
export type CompactionSetting = false | CompactionOptions;

/**
 * What the model is sent in place of the beginning of a run's transcript. The transcript itself stays whole, and the
 * same transcript and compaction always make the same request.
 */
export interface RunCompaction {
  /** How many times the history was compacted, this time included. */
  readonly count: number;
  /** How many items the transcript had when it was compacted. */
  readonly length: number;
  /** The index in the transcript before which all but pinned items are replaced by `summary`. 0: none are. */
  readonly summarizedUpTo: number;
  readonly summary?: string;
  /** The index in the transcript before which results of tools are replaced by references. */
  readonly clearedUpTo: number;
  /** Characters that results between `clearedUpTo` and `length` keep. Absent: all. */
  readonly resultCharacters?: number;
  /** The name of the tool with which the model reads what was left out. Absent: it has none. */
  readonly recall?: string;
  /** Tokens that a request may have, where a vendor refused one that seemed short enough. */
  readonly limit?: number;
}

/** A reason for which a history is compacted: it nears the window, or the vendor refused it as too long. */
export type CompactionReason = 'window' | 'overflow';
