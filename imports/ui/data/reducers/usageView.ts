/** Token counts in the flat shape of the views. */
import type { Usage } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { UsageView } from '../../../business/ai/domain/types/RunViews';

export const NO_USAGE: UsageView = {
  input_tokens: 0,
  output_tokens: 0,
  total_tokens: 0,
  cached_tokens: 0,
  reasoning_tokens: 0,
};

export function toUsageView(usage: Usage): UsageView {
  const { input_tokens, output_tokens, total_tokens } = usage;
  return {
    input_tokens,
    output_tokens,
    total_tokens,
    cached_tokens: usage.input_tokens_details.cached_tokens,
    reasoning_tokens: usage.output_tokens_details.reasoning_tokens,
  };
}

export function addUsage(a: UsageView, b: UsageView): UsageView {
  return {
    input_tokens: a.input_tokens + b.input_tokens,
    output_tokens: a.output_tokens + b.output_tokens,
    total_tokens: a.total_tokens + b.total_tokens,
    cached_tokens: a.cached_tokens + b.cached_tokens,
    reasoning_tokens: a.reasoning_tokens + b.reasoning_tokens,
  };
}
