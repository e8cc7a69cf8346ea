/** List prices of models, and what a call cost. */

/** US dollars per million tokens. */
export interface TokenPrices {
  readonly input: number;
  /** Reasoning tokens are output. */
  readonly output: number;
  /** Input read from the vendor's prompt cache. Default: `input`. */
  readonly cached?: number;
  /** Input written to the vendor's prompt cache. Default: `input`. */
  readonly cacheWrite?: number;
  /** Input written to the cache for an hour, where that costs more. Default: `cacheWrite`. */
  readonly cacheWriteHour?: number;
}

export interface ModelPrice extends TokenPrices {
  /** For the entire request, if its input, cached parts included, has more than `above` tokens. */
  readonly longPrompt?: TokenPrices & { readonly above: number };
  /** The day (`YYYY-MM-DD`) on which the prices were looked up. */
  readonly asOf: string;
}

/** Either the cost of a call or why it is unknown. */
export interface CallCost {
  /** US dollars: what the vendor reports, or else the list price of the tokens. Fees for server tools are not in it. */
  readonly cost?: number;
  /** Why the cost is unknown: `no price for model "x"`, `usage not reported`. */
  readonly unpriced?: string;
}
