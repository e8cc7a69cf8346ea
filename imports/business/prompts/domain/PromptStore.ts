/** Stores saved prompts with their versions. */
import type { PromptContent, PromptView } from './Prompts';

export interface StoredVersion {
  readonly version: number;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly content: PromptContent;
}

export interface StoredPrompt extends PromptView {
  /** The prompt's user; of a shared prompt, whoever saved it last. Absent for a user whose data was deleted. */
  readonly userId?: string;
  /** Oldest first; never empty. Those with a label are always among them. */
  readonly versions: readonly StoredVersion[];
}

export interface PromptStore {
  /** The user's own prompts and the shared ones, by name. */
  list(userId: string): Promise<readonly PromptView[]>;
  /** Own and shared prompts only; undefined for all others. */
  find(userId: string, promptId: string): Promise<StoredPrompt | undefined>;
  /** The user's own prompt of this name, or the shared one. @param shared only the shared one */
  findNamed(userId: string, name: string, shared: boolean): Promise<StoredPrompt | undefined>;
  /** @param version undefined takes the label away */
  setLabel(promptId: string, label: string, version: number | undefined): Promise<void>;
  /**
   * Adds a version to the user's prompt, or to the shared prompt, of this name, and creates the prompt for its first.
   * @throws LLMInvalidRequestError if the user, or the host, has too many prompts
   */
  save(
    userId: string,
    prompt: { readonly name: string; readonly shared: boolean },
    content: PromptContent,
  ): Promise<StoredPrompt>;
  /** @returns false if there was none */
  remove(promptId: string): Promise<boolean>;
}
