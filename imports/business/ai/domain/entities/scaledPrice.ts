/** Multiplies the token prices of a model. What tools cost stays. */
import { omitUndefined } from '../util/omitUndefined';
import type { ModelPrice, TokenPrices } from '../types/ModelPrice';

export interface PriceScale {
  /** The share of the list price that is charged. */
  readonly factor: number;
  /** Whether it applies to tokens read from the prompt cache, too. */
  readonly onCached: boolean;
}

export function scaledPrice(price: ModelPrice, scale: PriceScale): ModelPrice {
  const { longPrompt } = price;
  return {
    ...price,
    ...scaled(price, scale),
    ...omitUndefined({ longPrompt: longPrompt && { ...longPrompt, ...scaled(longPrompt, scale) } }),
  };
}

function scaled(price: TokenPrices, { factor, onCached }: PriceScale): TokenPrices {
  const reduced = (dollars: number | undefined): number | undefined =>
    dollars === undefined ? undefined : dollars * factor;
  // Never more than what is not cached.
  const cachedAt = (dollars: number | undefined, uncached: number): number | undefined =>
    dollars === undefined || onCached ? reduced(dollars) : Math.min(dollars, uncached * factor);
  const { input, output, cached, cacheWrite, cacheWriteHour, audioInput, imageInput } = price;
  return omitUndefined({
    input: input * factor,
    output: output * factor,
    cached: cachedAt(cached, input),
    cacheWrite: reduced(cacheWrite),
    cacheWriteHour: reduced(cacheWriteHour),
    audioInput: reduced(audioInput),
    audioCached: cachedAt(price.audioCached, audioInput ?? input),
    imageInput: reduced(imageInput),
    imageCached: cachedAt(price.imageCached, imageInput ?? input),
    audioOutput: reduced(price.audioOutput),
    imageOutput: reduced(price.imageOutput),
  });
}
