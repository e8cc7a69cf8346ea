/** Completes a response with the provider that served it and with its cost. */
import { batchPrice } from '../../../domain/entities/batchPrice';
import { priceUsage } from '../../../domain/entities/CallCost';
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
    const { cost, unpriced } = priceCall(usage, provider, models, discountOf(vendor));
    if (cost !== undefined) completed.cost = cost;
    if (unpriced !== undefined) completed.unpriced = unpriced;
  }
  return { ...response, vendor: completed };
}

/**
 * @param models the first one with a price counts; an empty name is the provider's default model
 * @param discount default: the list price
 */
export function priceCall(
  usage: Usage,
  provider: ILLMProvider,
  models: readonly string[],
  discount: Discount = {},
): CallCost {
  let price: ModelPrice | undefined;
  for (const model of models) price ??= priceOf(provider, model);
  if (price !== undefined && discount.batchVendor !== undefined) price = batchPrice(discount.batchVendor, price);
  return priceUsage(usage, price, models.find((model) => model !== '') ?? 'default', discount.serviceTier);
}

/** What makes the price of a call other than the list price. */
interface Discount {
  /** The vendor whose batch answered the call. */
  readonly batchVendor?: string;
  /** The service tier that the response names. */
  readonly serviceTier?: string;
}

/**
 * The tier that served the request, which need not be the one that was asked for. Anthropic and Groq's SDK have it in
 * the usage or beside it: https://docs.claude.com/en/api/service-tiers, https://console.groq.com/docs/service-tiers
 */
function discountOf({ batch_id, name, fields, usage }: LLMResponse['vendor']): Discount {
  // Batches have no other tiers, though they name one.
  if (batch_id !== undefined) return { batchVendor: name };
  const tier = fields?.service_tier ?? usage?.service_tier;
  return typeof tier === 'string' ? { serviceTier: tier } : {};
}

/** A provider from outside may lack the method or throw; the response must not be lost because its price is. */
function priceOf(provider: ILLMProvider, model: string): ModelPrice | undefined {
  try {
    return provider.getCapabilities(model).price;
  } catch {
    return undefined;
  }
}
