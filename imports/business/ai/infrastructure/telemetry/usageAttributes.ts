/** Token counts as attributes: of a model call, or of all model calls of a run. */
import type { Attributes } from '@opentelemetry/api';
import type { Usage } from '../../domain/types/ResponsesAPITypes';

/** Kinds of tokens of which none were used are left out. */
export function usageAttributes(usage: Usage, operation: string): Attributes {
  const { cached_tokens: read, cache_write_tokens: written } = usage.input_tokens_details;
  const { reasoning_tokens: reasoning } = usage.output_tokens_details;
  return {
    'gen_ai.usage.input_tokens': usage.input_tokens,
    ...(operation === 'embeddings' ? {} : { 'gen_ai.usage.output_tokens': usage.output_tokens }),
    ...(read === 0 ? {} : { 'gen_ai.usage.cache_read.input_tokens': read }),
    ...(written === 0 ? {} : { 'gen_ai.usage.cache_creation.input_tokens': written }),
    // The conventions define reasoning tokens for model calls, not for agents.
    ...(reasoning === 0 || operation !== 'chat' ? {} : { 'gen_ai.usage.reasoning.output_tokens': reasoning }),
    ...(usage.estimated === true ? { 'bolide.usage.estimated': true } : {}),
  };
}
