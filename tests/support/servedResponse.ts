/** A scripted response as the router returns it: with the provider that served it, and without a price. */
import type { FailedAttempt, LLMResponse } from '../../imports/business/ai/domain/types/ResponsesAPITypes';

export function servedResponse(response: LLMResponse, attempts: readonly FailedAttempt[] = []): LLMResponse {
  return {
    ...response,
    vendor: {
      ...response.vendor,
      providerId: 'scripted',
      unpriced: `no price for model "${response.model}"`,
      ...(attempts.length === 0 ? {} : { attempts }),
    },
  };
}
