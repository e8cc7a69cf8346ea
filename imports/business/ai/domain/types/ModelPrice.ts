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
  /** Storage of tokens in a cache, per hour. */
  readonly cacheStorage?: number;
  /** Audio in the input. Default: `input`. */
  readonly audioInput?: number;
  /** Audio read from the cache. Default: `cached`. */
  readonly audioCached?: number;
  /** Images in the input. Default: `input`. */
  readonly imageInput?: number;
  /** Images read from the cache. Default: `cached`. */
  readonly imageCached?: number;
  /** Generated audio. Default: `output`. */
  readonly audioOutput?: number;
  /** Generated images. Default: `output`. */
  readonly imageOutput?: number;
}

/**
 * What all token prices are multiplied by, by a name that a response states, such as `{ flex: 0.5, priority: 2 }`. A
 * response with any other name than these and the standard one has no known price.
 */
export type PriceFactors = Readonly<Record<string, number>>;

/** What a vendor charges for a tool of its own, on top of the tokens. */
export interface ToolPrice {
  /** US dollars for each use. */
  readonly perUse?: number;
  /** US dollars for each request in which the model used the tool, however often. */
  readonly perRequest?: number;
  /** Which part of the price is unknown, and why. */
  readonly unpriced?: string;
  /** The day (`YYYY-MM-DD`) on which the price was looked up. */
  readonly asOf: string;
  /** The address of the page. */
  readonly source?: string;
}

/** By the tools' names in `Usage.server_tool_use`. */
export type ToolPrices = Readonly<Record<string, ToolPrice>>;

export interface ModelPrice extends TokenPrices {
  /** For the entire request, if its input, cached parts included, has more than `above` tokens. */
  readonly longPrompt?: TokenPrices & { readonly above: number };
  readonly serviceTiers?: PriceFactors;
  /** By the speed that the response states, such as `{ fast: 2 }`. */
  readonly speeds?: PriceFactors;
  /** By the region in which the response was generated, such as `{ us: 1.1 }`; `*` is any that is not listed. */
  readonly regions?: PriceFactors;
  /** Not multiplied by any factor. */
  readonly tools?: ToolPrices;
  /** The day (`YYYY-MM-DD`) on which the prices were looked up. */
  readonly asOf: string;
}

/** What a call cost. With both fields, `cost` is the part that is known. */
export interface CallCost {
  /** US dollars: what the vendor reports, or else the list price of the tokens and of the vendor's tools. */
  readonly cost?: number;
  /**
   * Why the cost, or a part of it, is unknown: `no price for model "x"`, `no price for service tier "y" of model "x"`,
   * `usage not reported`, `no price for the tool "z" of model "x"`. Reasons are separated by `; `.
   */
  readonly unpriced?: string;
}
