/**
 * Reads the open list of models and prices at https://models.dev/api.json, whose format is defined at
 * https://github.com/anomalyco/models.dev/blob/dev/packages/core/src/schema.ts: providers by id, and their models by id.
 */
import { fieldsOf, isList, isObject, isObjectList } from '../../domain/util/json';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { ModelPrice, PriceFactors, TokenPrices } from '../../domain/types/ModelPrice';
import type { JsonObject, VendorName } from '../../domain/types/VendorTypes';
import type { ModelEntry } from './ModelRow';

/** The list's ids of our vendors. */
export const MODELS_DEV_VENDORS: Readonly<Record<string, VendorName>> = {
  openai: 'openai',
  azure: 'azure_openai',
  anthropic: 'anthropic',
  google: 'google',
  xai: 'grok',
  groq: 'groq',
  llama: 'llama',
};

export interface ModelsDevEntry extends ModelEntry {
  /** The list's own id of the model. */
  readonly id: string;
  /** Why the entry has no price although the list has one. */
  readonly problem?: string;
}

/**
 * @param models the field `models` of a provider
 * @param asOf the day (`YYYY-MM-DD`) of the list
 * @returns an entry for each model that generates text, or makes embeddings
 */
export function readModelsDev(models: JsonObject, vendor: VendorName, asOf: string): readonly ModelsDevEntry[] {
  return Object.entries(models).flatMap(([id, model]) => (isObject(model) ? readModel(id, model, vendor, asOf) : []));
}

function readModel(id: string, model: JsonObject, vendor: VendorName, asOf: string): readonly ModelsDevEntry[] {
  const { input, output } = fieldsOf(model.modalities);
  if (isList(output) && !output.includes('text')) return [];
  const name = id.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
  const found = readPrice(model, vendor, asOf);
  const price = typeof found === 'string' ? { problem: found } : found === undefined ? {} : { price: found };
  const { context, output: maxOutput } = fieldsOf(model.limit);
  // The list has the length of vectors where others have their maximal output.
  if (/embedding/.test(id)) return [{ id, name, ...positive('maxTokens', context), ...price }];
  const { supported } = fieldsOf(model.tool_call);
  return [
    {
      id,
      name,
      ...positive('maxTokens', context),
      ...positive('maxOutputTokens', maxOutput),
      ...flag('supportsTools', supported ?? model.tool_call),
      ...flag('supportsReasoning', model.reasoning),
      ...flag('supportsJSONSchema', model.structured_output),
      ...(isList(input) ? { supportsVision: input.includes('image'), supportsFiles: input.includes('pdf') } : {}),
      ...price,
    },
  ];
}

/** @returns a text if the price has a form that cannot be represented, which must not become a wrong one */
function readPrice(
  { cost, experimental }: JsonObject,
  vendor: VendorName,
  asOf: string,
): ModelPrice | string | undefined {
  if (!isObject(cost)) return undefined;
  const standard = readTokenPrices(cost, vendor);
  if (standard === undefined) return 'input and output prices are missing';
  if (typeof cost.reasoning === 'number' && cost.reasoning !== standard.output)
    return 'reasoning has a price of its own';
  const tiers = isObjectList(cost.tiers) ? cost.tiers : [];
  if (tiers.length > 1) return 'there are several prices for long prompts';
  const [tier = isObject(cost.context_over_200k) ? { ...cost.context_over_200k, tier: { size: 200_000 } } : undefined] =
    tiers;
  const serviceTiers = readServiceTiers(fieldsOf(experimental).modes, standard);
  const tiered = omitUndefined({ asOf, ...standard, serviceTiers });
  if (tier === undefined) return tiered;
  const above = fieldsOf(tier.tier).size ?? fieldsOf(tier.context).min;
  const prices = readTokenPrices(tier, vendor);
  if (typeof above !== 'number' || prices === undefined) return 'the price for long prompts is not understood';
  return { ...tiered, longPrompt: { above, ...prices } };
}

function readTokenPrices(prices: JsonObject, vendor: VendorName): TokenPrices | undefined {
  const { input, output, cache_read: cached, cache_write: cacheWrite } = prices;
  if (typeof input !== 'number' || typeof output !== 'number') return undefined;
  return {
    input,
    output,
    ...(typeof cached === 'number' ? { cached } : {}),
    ...(typeof cacheWrite === 'number' ? { cacheWrite } : {}),
    // https://platform.claude.com/docs/en/build-with-claude/prompt-caching#pricing
    ...(vendor === 'anthropic' && typeof cacheWrite === 'number' ? { cacheWriteHour: input * 2 } : {}),
  };
}

/** Modes that a request asks for by its service tier, if they multiply input and output alike. */
function readServiceTiers(modes: unknown, { input, output }: TokenPrices): PriceFactors | undefined {
  const factors = Object.values(fieldsOf(modes)).flatMap((mode) => {
    const { cost, provider } = fieldsOf(mode);
    const tier = fieldsOf(fieldsOf(provider).body).service_tier;
    const prices = fieldsOf(cost);
    if (typeof tier !== 'string' || typeof prices.input !== 'number' || typeof prices.output !== 'number') return [];
    const factor = prices.input / input;
    return factor === prices.output / output ? [[tier, factor] as const] : [];
  });
  return factors.length === 0 ? undefined : Object.fromEntries(factors);
}

function positive(field: 'maxTokens' | 'maxOutputTokens', value: unknown): Partial<ModelEntry> {
  return typeof value === 'number' && value > 0 ? { [field]: value } : {};
}

function flag(
  field: 'supportsTools' | 'supportsReasoning' | 'supportsJSONSchema',
  value: unknown,
): Partial<ModelEntry> {
  return typeof value === 'boolean' ? { [field]: value } : {};
}
