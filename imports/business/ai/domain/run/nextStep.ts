/** Decides what a run does next. A pure function of the model's response and the work that is still open. */
import { toolCalls } from '../entities/Response';
import type { LLMError } from '../errors/LLMErrors';
import type { FunctionCallItem, LLMResponse } from '../types/ResponsesAPITypes';
import { unansweredError } from '../errors/assertAnswered';
import { clientCallError } from './clientCall';

export interface OpenWork {
  /** Non-blocking calls that have not settled. */
  readonly running: number;
  /** Late results that the model has not received yet. */
  readonly undelivered: number;
}

export type NextStep =
  /** Run these calls, add their results to the transcript, call the model again. */
  | { readonly kind: 'use-tools'; readonly calls: readonly FunctionCallItem[] }
  /** The model's turn is not over, or late results are available: call it again at once. */
  | { readonly kind: 'continue' }
  /** The model has answered, but some results are still to come. */
  | { readonly kind: 'wait' }
  /** The model has answered, and nothing is open: the run ends. */
  | { readonly kind: 'answer' }
  | { readonly kind: 'stop'; readonly error: LLMError };

/** @param clientTools names of Anthropic's tools that the run offers and cannot execute */
export function nextStep(response: LLMResponse, open: OpenWork, clientTools: readonly string[] = []): NextStep {
  // The tool calls of a truncated, filtered or refused response never run, nor do those beside a call that only the
  // client can answer: vendors refuse a request that lacks an answer, so the model would not learn of the effects.
  const error = unansweredError(response) ?? clientCallError(response, clientTools);
  if (error !== undefined) return { kind: 'stop', error };
  const calls = toolCalls(response);
  if (calls.length > 0) return { kind: 'use-tools', calls };
  // Anthropic pauses long turns of its server tools; sending the turn back unchanged resumes it.
  if (response.vendor.finish_reason === 'pause_turn') return { kind: 'continue' };
  if (open.undelivered > 0) return { kind: 'continue' };
  return open.running > 0 ? { kind: 'wait' } : { kind: 'answer' };
}
