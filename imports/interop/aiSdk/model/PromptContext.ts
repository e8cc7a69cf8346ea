import type { SharedV4Warning } from '@ai-sdk/provider';

/** What the conversion of a prompt needs besides the prompt. */
export interface PromptContext {
  /** The keys under which a file reference may name this model's provider. */
  readonly providerIds: readonly string[];
  /** Receives what could not be sent. */
  readonly warnings: SharedV4Warning[];
}
