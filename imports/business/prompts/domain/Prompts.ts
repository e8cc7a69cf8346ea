/** Saved prompts: what the playground starts a run with, under a name. */
import type { ReasoningEffort } from '../../ai/domain/types/LLMTypes';
import type { JsonObject } from '../../ai/domain/types/VendorTypes';

/** What a version of a prompt contains. Images and files are not part of it. */
export interface PromptContent {
  /** The user's message. */
  readonly input?: string | undefined;
  readonly instructions?: string | undefined;
  readonly providerId?: string | undefined;
  /** Absent: the provider's default. */
  readonly model?: string | undefined;
  readonly temperature?: number | undefined;
  readonly maxOutputTokens?: number | undefined;
  readonly reasoning?: ReasoningEffort | undefined;
  /** JSON Schema of the answer. */
  readonly schema?: JsonObject | undefined;
  /** Names. */
  readonly tools?: readonly string[] | undefined;
}

/** A prompt as lists show it, with its newest version. Times are milliseconds since the epoch. */
export interface PromptView {
  readonly _id: string;
  readonly name: string;
  /** Every user may load it, and only admins may change it. */
  readonly shared: boolean;
  /** From 1. Saving the same name again makes the next version. */
  readonly version: number;
  readonly updatedAt: number;
  /** The versions that have a label, such as `{ production: 3 }`. */
  readonly labels: Readonly<Record<string, number>>;
}

/** One version of a prompt. */
export interface PromptDetailView extends PromptView {
  readonly content: PromptContent;
  /** The stored versions, newest first. */
  readonly versions: readonly { readonly version: number; readonly at: number }[];
}
