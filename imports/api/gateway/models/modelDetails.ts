/**
 * What clients want to know about a model beyond the formats of the three APIs, under the names that OpenRouter's list
 * of models has: https://openrouter.ai/docs/api-reference/list-available-models
 */
import type { ModelCapabilities } from '../../../business/ai/domain/interfaces/ILLMProvider';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { ModelPrice } from '../../../business/ai/domain/types/ModelPrice';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import type { ListedModel } from './ModelDirectory';

export function modelDetails({ capabilities }: ListedModel): JsonObject {
  if (capabilities === undefined) return {};
  const { price } = capabilities;
  return omitUndefined({
    architecture: {
      input_modalities: inputModalities(capabilities),
      output_modalities: [capabilities.makesEmbeddings === true ? 'embeddings' : 'text'],
    },
    supported_parameters: supportedParameters(capabilities),
    pricing: price && pricing(price),
  });
}

function inputModalities({ supportsVision, supportsFiles }: ModelCapabilities): string[] {
  return ['text', ...(supportsVision ? ['image'] : []), ...(supportsFiles ? ['file'] : [])];
}

function supportedParameters(capabilities: ModelCapabilities): string[] {
  if (capabilities.makesEmbeddings === true) return ['dimensions'];
  return [
    'max_tokens',
    ...(capabilities.supportsTools ? ['tools', 'tool_choice'] : []),
    ...(capabilities.supportsParallelTools ? ['parallel_tool_calls'] : []),
    ...(capabilities.supportsJSON ? ['response_format'] : []),
    ...(capabilities.supportsJSONSchema ? ['structured_outputs'] : []),
    ...(capabilities.supportsReasoning ? ['reasoning'] : []),
  ];
}

/** US dollars per token, as decimal numbers in strings. */
function pricing({ input, output, cached, cacheWrite }: ModelPrice): JsonObject {
  return omitUndefined({
    prompt: perToken(input),
    completion: perToken(output),
    input_cache_read: cached === undefined ? undefined : perToken(cached),
    input_cache_write: cacheWrite === undefined ? undefined : perToken(cacheWrite),
  });
}

/** @param dollars per million tokens */
function perToken(dollars: number): string {
  return (dollars / 1e6).toFixed(12).replace(/\.?0+$/, '');
}
