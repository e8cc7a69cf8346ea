/** How failed attempts are reported: in responses, to listeners and in logs. */
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { safeMessage } from '../../../domain/errors/safeText';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { FailedAttempt, LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import type { ProviderTarget } from './ProviderTarget';

/** @param warnings why a fallback served the request @param attempts the failed ones */
export function withAttempts(
  response: LLMResponse,
  { warnings, attempts }: { readonly warnings: readonly string[]; readonly attempts: readonly FailedAttempt[] },
): LLMResponse {
  if (warnings.length === 0 && attempts.length === 0) return response;
  const { vendor } = response;
  return { ...response, vendor: { ...vendor, warnings: [...vendor.warnings, ...warnings], attempts: [...attempts] } };
}

export function failedAttempt(
  { id }: ProviderTarget,
  { code, status, response }: LLMError,
  delay: number,
): FailedAttempt {
  return omitUndefined({ providerId: id, reason: code, status, delay, ...billOf(response) });
}

function billOf(response: LLMResponse | undefined): Pick<FailedAttempt, 'usage' | 'cost' | 'unpriced'> {
  if (response === undefined || response.usage.total_tokens === 0) return {};
  const { cost, unpriced } = response.vendor;
  return omitUndefined({ usage: response.usage, cost, unpriced });
}

/** Messages of hand-written providers may contain anything. */
export function describeFailure({ id }: ProviderTarget, { code, message }: LLMError): string {
  return `The provider "${id}" failed (${code}: ${safeMessage(message)}).`;
}

export function logFields(
  { userId, options }: { readonly userId: string; readonly options: GenerateOptions },
  { status, requestId }: LLMError,
): object {
  return omitUndefined({ userId, model: options.model, status, requestId });
}
