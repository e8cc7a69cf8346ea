/** Completes a response with the provider that served it and with its cost. */
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
  const completed = { ...vendor };
  completed.providerId ??= providerId;
  if (!isPriced) {
    const models = requestedModel === undefined ? [model] : [model, requestedModel];
    const { cost, unpriced } = priceCall(usage, provider, models);
    if (cost !== undefined) completed.cost = cost;
    if (unpriced !== undefined) completed.unpriced = unpriced;
  }
  return { ...response, vendor: completed };
}

/** @param models the first one with a price counts; an empty name is the provider's default model */
export function priceCall(usage: Usage, provider: ILLMProvider, models: readonly string[]): CallCost {
  let price: ModelPrice | undefined;
  for (const model of models) price ??= priceOf(provider, model);
  return priceUsage(usage, price, models.find((model) => model !== '') ?? 'default');
}

/** A provider from outside may lack the method or throw; the response must not be lost because its price is. */
function priceOf(provider: ILLMProvider, model: string): ModelPrice | undefined {
  try {
    return provider.getCapabilities(model).price;
  } catch {
    return undefined;
  }
}
