/**
 * What a run does next, as a value that the loop obeys. Pure: the answer, what is still open, and the limits say it
 * all.
 */
import { toolCalls } from '../../../domain/entities/Response';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { FunctionCallItem, LLMResponse } from '../../../domain/types/ResponsesAPITypes';
import { unansweredError } from '../routing/assertAnswered';

export interface OpenWork {
  /** Non-blocking calls that have not settled. */
  readonly running: number;
  /** Settled results that the model must still be told. */
  readonly undelivered: number;
}

export type NextStep =
  /** Run these calls, answer each, ask again. */
  | { readonly kind: 'use-tools'; readonly calls: readonly FunctionCallItem[] }
  /** The model's turn goes on, or results lie ready: ask again at once. */
  | { readonly kind: 'continue' }
  /** The model has answered; results are still to come. */
  | { readonly kind: 'wait' }
  | { readonly kind: 'answer' }
  | { readonly kind: 'stop'; readonly error: LLMError };

export function nextStep(response: LLMResponse, pending: OpenWork): NextStep {
  const error = unansweredError(response);
  // A truncated, filtered or refused answer never runs its tools.
  if (error !== undefined) return { kind: 'stop', error };
  const calls = toolCalls(response);
  if (calls.length > 0) return { kind: 'use-tools', calls };
  // Anthropic's server paused its own long turn; sending the turn back as it is lets it go on.
  if (response.vendor.finish_reason === 'pause_turn') return { kind: 'continue' };
  if (pending.undelivered > 0) return { kind: 'continue' };
  return pending.running > 0 ? { kind: 'wait' } : { kind: 'answer' };
}
