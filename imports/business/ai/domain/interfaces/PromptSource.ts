/** Finds saved prompts by their names. */
import type { PromptReference, ReasoningEffort } from '../types/LLMTypes';

/** A version of a prompt, with its variables in place. */
export interface ResolvedPrompt {
  readonly name: string;
  readonly version: number;
  readonly instructions?: string | undefined;
  /** A message of the user, before those of the request. */
  readonly input?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly reasoning?: ReasoningEffort | undefined;
}

export interface PromptSource {
  /** @throws LLMInvalidRequestError for an unknown name, label or version, and without a value for a variable */
  resolve(userId: string, reference: PromptReference): Promise<ResolvedPrompt>;
}
