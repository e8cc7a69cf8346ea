import type { SharedV4Warning } from '@ai-sdk/provider';

/** What the conversion of a prompt needs besides the prompt. */
export interface PromptContext {
  /** The key under which references to stored files name the model's provider. */
  readonly providerId: string;
  /** Receives what could not be sent. */
  readonly warnings: SharedV4Warning[];
}
