/** How the history of a run is kept within the model's context window, and what became of it. */
import type { Item } from './ResponsesAPITypes';
import type { VendorName, WireName } from './VendorTypes';

/**
 * Who makes a history shorter. `portable`: references to results and a summary, which every model can read. `vendor`:
 * the vendor's own compaction, which only that vendor can read, or else as `portable`. `auto`: results become
 * references, and if that is not enough, the vendor compacts, unless `model` is to write the summaries.
 */
export type CompactionStrategy = (typeof COMPACTION_STRATEGIES)[number];

export const COMPACTION_STRATEGIES = ['portable', 'vendor', 'auto'] as const;

/** Where the history is shortened. */
export interface CompactionOptions {
  /** Default: `portable`. */
  readonly strategy?: CompactionStrategy;
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

/** The only provider that can read a compaction, as far as it is known. */
export interface CompactionReader {
  /** Absent: the provider has no router. */
  readonly providerId?: string;
  readonly vendor: VendorName | (string & {});
  readonly wire: WireName;
}

export interface VendorCompaction extends CompactionReader {
  /** What the vendor is sent in place of the items that it compacted. */
  readonly items: readonly Item[];
}

/**
 * What the model is sent in place of the beginning of a run's transcript. The transcript itself stays whole, and the
 * same transcript and compaction always make the same request.
 */
export interface RunCompaction {
  /** How many times the history was compacted, this time included. */
  readonly count: number;
  /** How many items the transcript had when it was compacted. */
  readonly length: number;
  /** The index in the transcript before which `summary` or `vendor` replaces all but pinned items. 0: none are. */
  readonly summarizedUpTo: number;
  readonly summary?: string;
  readonly vendor?: VendorCompaction;
  /** The index in the transcript before which results of tools are replaced by references. */
  readonly clearedUpTo: number;
  /** Characters that results between `clearedUpTo` and `length` keep. Absent: all. */
  readonly resultCharacters?: number;
  /** The name of the tool with which the model reads what was left out. Absent: it has none. */
  readonly recall?: string;
  /** Tokens that a request may have, where a vendor refused one that seemed short enough. */
  readonly limit?: number;
}

/**
 * A reason for which a history is compacted: it nears the window, the vendor refused it as too long, or what a vendor
 * made of it cannot be read by the one that is to serve the next call.
 */
export type CompactionReason = 'window' | 'overflow' | 'unreadable';
