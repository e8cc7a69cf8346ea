/** Marks a span as failed. The message may quote what was said, so a span has only the type of the error. */
import type { Span } from '@opentelemetry/api';
import { isLLMError } from '../../domain/errors/LLMErrors';
import type { OpenTelemetry } from './openTelemetry';

export function fail({ SpanStatusCode }: Pick<OpenTelemetry, 'SpanStatusCode'>, span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType);
  span.setStatus({ code: SpanStatusCode.ERROR });
}

/** `_OTHER` is the conventions' word for an error without a code. */
export function errorTypeOf(error: unknown): string {
  return isLLMError(error) ? error.code : '_OTHER';
}
