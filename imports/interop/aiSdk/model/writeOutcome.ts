/** Converts what a response states about itself: why it ended, what it used, and what was lost. */
import type {
  LanguageModelV4FinishReason,
  LanguageModelV4ResponseMetadata,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { LLMResponse, Usage } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject, Loss } from '../../../business/ai/domain/types/VendorTypes';
import { BOLIDE, omit } from './carriedItem';

export function finishReason(response: LLMResponse): LanguageModelV4FinishReason {
  return { unified: unifiedReason(response), raw: response.vendor.finish_reason ?? undefined };
}

function unifiedReason({ status, incomplete_details, output }: LLMResponse): LanguageModelV4FinishReason['unified'] {
  if (status !== 'completed')
    switch (incomplete_details?.reason) {
      case 'max_output_tokens':
        return 'length';
      case 'content_filter':
        return 'content-filter';
      default:
        return 'other';
    }
  return output.some(({ type }) => type === 'function_call') ? 'tool-calls' : 'stop';
}

/** Unknown, rather than zero, for a response whose vendor reported no usage. */
export function responseUsage({ usage, vendor }: LLMResponse): LanguageModelV4Usage {
  return vendor.usage === undefined && usage.total_tokens === 0 ? UNKNOWN_USAGE : toUsage(usage, vendor.usage);
}

/** @param raw the vendor's own usage object */
export function toUsage(usage: Usage, raw?: JsonObject): LanguageModelV4Usage {
  const { cached_tokens, cache_write_tokens } = usage.input_tokens_details;
  const { reasoning_tokens } = usage.output_tokens_details;
  return omitUndefined({
    inputTokens: {
      total: usage.input_tokens,
      noCache: Math.max(0, usage.input_tokens - cached_tokens - cache_write_tokens),
      cacheRead: cached_tokens,
      cacheWrite: cache_write_tokens,
    },
    outputTokens: {
      total: usage.output_tokens,
      text: Math.max(0, usage.output_tokens - reasoning_tokens),
      reasoning: reasoning_tokens,
    },
    // The vendor's usage is parsed JSON.
    raw: raw === undefined ? undefined : (raw as NonNullable<LanguageModelV4Usage['raw']>),
  });
}

export const UNKNOWN_USAGE: LanguageModelV4Usage = {
  inputTokens: { total: undefined, noCache: undefined, cacheRead: undefined, cacheWrite: undefined },
  outputTokens: { total: undefined, text: undefined, reasoning: undefined },
};

export function responseMetadata({ id, created_at, model }: LLMResponse): LanguageModelV4ResponseMetadata {
  return { ...(id === '' ? {} : { id }), timestamp: new Date(created_at * 1000), modelId: model };
}

/** The vendor that served the response, and what happened on the way. */
export function responseProviderMetadata({ vendor }: LLMResponse): SharedV4ProviderMetadata {
  return { [BOLIDE]: omit(vendor, ['finish_reason', 'usage']) } as SharedV4ProviderMetadata;
}

/** Keywords of a response's schema are no loss: the AI SDK validates the response against all of it. */
export function toWarnings(losses: readonly Loss[], warnings: readonly string[]): SharedV4Warning[] {
  return [
    ...losses
      .filter(({ path }) => !path.startsWith('response_format.schema'))
      .map(({ path, what, reason }) => ({
        type: 'unsupported' as const,
        feature: `${what} (${path})`,
        details: reason,
      })),
    ...warnings.map((message) => ({ type: 'other' as const, message })),
  ];
}
