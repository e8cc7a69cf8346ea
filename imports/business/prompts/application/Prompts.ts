/** Saved prompts, which users own and admins share. */
import { invalid } from '../../ai/domain/util/arguments';
import { LLMPermissionError } from '../../ai/domain/errors/LLMErrors';
import { ObjectNotFoundError } from '../../ai/domain/errors/ObjectNotFoundError';
import type { PromptStore, StoredPrompt, StoredVersion } from '../domain/PromptStore';
import type { Actor } from '../../ai/domain/types/Actor';
import type { PromptContent, PromptDetailView, PromptView } from '../domain/Prompts';

export interface PromptPorts {
  readonly store: PromptStore;
  /** Called after every change. @param userId whose prompt has changed; undefined for a shared one */
  readonly onChange?: (userId?: string) => void;
}

export interface PromptName {
  readonly name: string;
  /** Everyone can use it. */
  readonly shared: boolean;
}

export class Prompts {
  private readonly ports: PromptPorts;

  constructor(ports: PromptPorts) {
    this.ports = ports;
  }

  /** Own and shared prompts, by name. */
  list({ userId }: Actor): Promise<readonly PromptView[]> {
    return this.ports.store.list(userId);
  }

  /** @param version default: the newest @throws UnknownPromptError; LLMInvalidRequestError for an unknown version */
  async get(actor: Actor, promptId: string, version?: number): Promise<PromptDetailView> {
    const prompt = await this.find(actor, promptId);
    const { versions } = prompt;
    const wanted = version ?? prompt.version;
    const stored = versions.find((each) => each.version === wanted);
    if (stored === undefined) throw invalid('version', `is not stored; the prompt has ${rangeOf(versions)}`);
    return {
      ...toView(prompt),
      version: wanted,
      updatedAt: stored.at,
      content: stored.content,
      versions: versions.map(({ version: number, at }) => ({ version: number, at })).reverse(),
    };
  }

  /** Saving the same name makes a new version. @throws LLMPermissionError for a shared one */
  async save(actor: Actor, prompt: PromptName, content: PromptContent): Promise<PromptView> {
    assertMayChange(actor, prompt);
    const saved = await this.ports.store.save(actor.userId, prompt, content);
    this.changed(actor, prompt);
    return toView(saved);
  }

  /** Removes every version. @throws UnknownPromptError; LLMPermissionError for a shared one */
  async remove(actor: Actor, promptId: string): Promise<boolean> {
    const prompt = await this.find(actor, promptId);
    assertMayChange(actor, prompt);
    const removed = await this.ports.store.remove(promptId);
    this.changed(actor, prompt);
    return removed;
  }

  private async find({ userId }: Actor, promptId: string): Promise<StoredPrompt> {
    const found = await this.ports.store.find(userId, promptId);
    if (found === undefined) throw new UnknownPromptError();
    return found;
  }

  private changed({ userId }: Actor, { shared }: Pick<PromptName, 'shared'>): void {
    this.ports.onChange?.(shared ? undefined : userId);
  }
}

export class UnknownPromptError extends ObjectNotFoundError {
  constructor() {
    super('There is no such prompt.', { path: 'promptId' });
  }
}

function assertMayChange({ isAdmin }: Actor, { shared }: Pick<PromptName, 'shared'>): void {
  if (shared && isAdmin !== true)
    throw new LLMPermissionError('Only administrators may change prompts that everyone can use.');
}

function toView({ _id, name, shared, version, updatedAt }: StoredPrompt): PromptView {
  return { _id, name, shared, version, updatedAt };
}

function rangeOf(versions: readonly StoredVersion[]): string {
  return `versions ${versions[0]?.version ?? 0} to ${versions.at(-1)?.version ?? 0}`;
}
