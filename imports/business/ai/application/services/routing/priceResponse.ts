/** Completes a response with the provider that served it and with its cost. */
import { batchPrice } from '../../../domain/entities/batchPrice';
import { addCosts, priceUsage } from '../../../domain/entities/CallCost';
import type { PriceTerms } from '../../../domain/entities/CallCost';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { CallCost, ModelPrice } from '../../../domain/types/ModelPrice';
import type { LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { Writable } from '../../../domain/types/Writable';

/**
 * @param requestedModel prices responses whose own model has no price, such as those of an Azure deployment
 * @returns the same object if the response states its provider and cost already, as one of a router does
 */
export function priceResponse(
  response: LLMResponse,
  provider: ILLMProvider,
  providerId: string,
  requestedModel: string | undefined,
): LLMResponse {
  const { model, usage } = response;
  const vendor: Writable<LLMResponse['vendor']> = response.vendor;
  const isPriced = vendor.cost !== undefined || vendor.unpriced !== undefined;
  if (isPriced && vendor.providerId !== undefined) return response;
  // V8 gives each copy by a spread a hidden class of its own when properties are added to it.
  const completed: Writable<LLMResponse['vendor']> = Object.assign({}, vendor);
  completed.providerId ??= providerId;
  if (!isPriced) {
    const models = requestedModel === undefined ? [model] : [model, requestedModel];
    const ofModel = priceCall(usage, provider, models, termsOf(vendor));
    const { tool_models } = vendor;
    const { cost, unpriced } =
      tool_models === undefined
        ? ofModel
        : addCosts([ofModel, ...tool_models.map((each) => priceCall(each.usage, provider, [each.model]))]);
    if (cost !== undefined) completed.cost = cost;
    if (unpriced !== undefined) completed.unpriced = unpriced;
  }
  return { ...response, vendor: completed };
}

/**
 * @param models the first one with a price counts; an empty name is the provider's default model
 * @param terms default: those of the list price
 */
export function priceCall(
  usage: Usage,
  provider: ILLMProvider,
  models: readonly string[],
  terms: CallTerms = {},
): CallCost {
  let price: ModelPrice | undefined;
  for (const model of models) price ??= priceOf(provider, model);
  if (price !== undefined && terms.batchVendor !== undefined) price = batchPrice(terms.batchVendor, price);
  return priceUsage(usage, price, models.find((model) => model !== '') ?? 'default', terms);
}

interface CallTerms extends PriceTerms {
  /** The vendor whose batch answered the call. */
  readonly batchVendor?: string | undefined;
}

/**
 * The terms that applied to the request, which need not be those that were asked for. Anthropic and Groq's SDK have the
 * tier in the usage or beside it: https://docs.claude.com/en/api/service-tiers, https://console.groq.com/docs/service-tiers.
 * Google's APIs have it as `serviceTier` or, on Vertex AI, `trafficType`: https://ai.google.dev/api/generate-content.
 * Anthropic's speed and region are in the usage: https://platform.claude.com/docs/en/build-with-claude/fast-mode,
 * https://platform.claude.com/docs/en/build-with-claude/data-residency
 */
function termsOf({ batch_id, name, fields, usage }: LLMResponse['vendor']): CallTerms {
  const region = textIn(usage?.inference_geo);
  const serviceTier =
    textIn(fields?.service_tier) ?? textIn(usage?.service_tier ?? usage?.serviceTier ?? usage?.trafficType);
  // Batches have no other tiers, though they name one. Google's flex tier costs what its batches do.
  if (batch_id !== undefined || (name === 'google' && FLEX_TIERS.has(serviceTier)))
    return { batchVendor: name, region };
  return { serviceTier, speed: textIn(usage?.speed), region };
}

/** https://ai.google.dev/gemini-api/docs/flex-inference */
const FLEX_TIERS: ReadonlySet<string | undefined> = new Set(['flex', 'ON_DEMAND_FLEX']);

function textIn(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

/** A provider from outside may lack the method or throw; the response must not be lost because its price is. */
function priceOf(provider: ILLMProvider, model: string): ModelPrice | undefined {
  try {
    return provider.getCapabilities(model).price;
  } catch {
    return undefined;
  }
}
