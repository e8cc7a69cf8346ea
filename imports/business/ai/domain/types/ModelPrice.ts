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

/**
 * What all prices are multiplied by, by the service tier that a response names, such as `{ flex: 0.5, priority: 2 }`. A
 * response of any other tier than these and the standard one has no known price.
 */
export type ServiceTiers = Readonly<Record<string, number>>;

export interface ModelPrice extends TokenPrices {
  /** For the entire request, if its input, cached parts included, has more than `above` tokens. */
  readonly longPrompt?: TokenPrices & { readonly above: number };
  readonly serviceTiers?: ServiceTiers;
  /** The day (`YYYY-MM-DD`) on which the prices were looked up. */
  readonly asOf: string;
}

/** Either the cost of a call or why it is unknown. */
export interface CallCost {
  /** US dollars: what the vendor reports, or else the list price of the tokens. Fees for server tools are not in it. */
  readonly cost?: number;
  /**
   * Why the cost is unknown: `no price for model "x"`, `no price for service tier "y" of model "x"`,
   * `usage not reported`.
   */
  readonly unpriced?: string;
}
