/** What a guardrail did to a call. */
import type { JsonObject } from './VendorTypes';

export type GuardrailStage = 'before' | 'during' | 'after';

/** What a guardrail did to one call, for the request log. */
export interface GuardrailAnnotation {
  readonly guardrail: string;
  readonly stage: GuardrailStage;
  /** `error`: the guardrail itself failed. */
  readonly action: 'deny' | 'change' | 'annotate' | 'error';
  /** Why the call was denied, or how the guardrail failed. */
  readonly reason?: string;
  /** What the guardrail adds, such as the number of masked values. Never the values. */
  readonly details?: JsonObject;
}
