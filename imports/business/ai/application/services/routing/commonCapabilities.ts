/** What can be relied on when any of several models may respond. */
import type { ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { ModelPrice } from '../../../domain/types/ModelPrice';

/** @returns undefined without models */
export function commonCapabilities(models: readonly ModelCapabilities[]): ModelCapabilities | undefined {
  const [first, ...others] = models;
  if (first === undefined || others.length === 0) return first;
  const all = (name: BooleanCapability): boolean => models.every((model) => model[name]);
  const price = highestPrice(models.map((model) => model.price));
  return omitUndefined({
    supportsTools: all('supportsTools'),
    supportsParallelTools: all('supportsParallelTools'),
    supportsAsyncTools: all('supportsAsyncTools'),
    supportsVision: all('supportsVision'),
    supportsFiles: all('supportsFiles'),
    supportsJSON: all('supportsJSON'),
    supportsJSONSchema: all('supportsJSONSchema'),
    supportsReasoning: all('supportsReasoning'),
    supportsCompaction: models.every((model) => model.supportsCompaction === true) ? true : undefined,
    // The next request may go to another provider, which does not have the stored response.
    keepsState: false,
    maxTokens: Math.min(...models.map(({ maxTokens }) => maxTokens)),
    maxOutputTokens: Math.min(...models.map(({ maxOutputTokens }) => maxOutputTokens)),
    isWindowUnknown: models.some((model) => model.isWindowUnknown === true) ? true : undefined,
    ...smallestBatch(models),
    price,
  });
}

type BooleanCapability = {
  [K in keyof ModelCapabilities]-?: ModelCapabilities[K] extends boolean ? K : never;
}[keyof ModelCapabilities];

function smallestBatch(models: readonly ModelCapabilities[]): Pick<ModelCapabilities, 'embeddingBatch'> {
  const batches = models.flatMap(({ embeddingBatch }) => embeddingBatch ?? []);
  if (batches.length === 0) return {};
  const tokens = batches.flatMap((batch) => batch.tokens ?? []);
  return {
    embeddingBatch: {
      inputs: Math.min(...batches.map(({ inputs }) => inputs)),
      ...(tokens.length === 0 ? {} : { tokens: Math.min(...tokens) }),
    },
  };
}

/** An upper bound of what a request costs. Undefined if one of the prices is unknown. */
function highestPrice(prices: readonly (ModelPrice | undefined)[]): ModelPrice | undefined {
  const known = prices.filter((price) => price !== undefined);
  return known.length < prices.length
    ? undefined
    : known.reduce((left, right) => (sum(left) >= sum(right) ? left : right));
}

function sum({ input, output }: ModelPrice): number {
  return input + output;
}
