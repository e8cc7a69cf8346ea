/** Saved prompts, which users own and admins share. */
import { invalid } from '../../ai/domain/util/arguments';
import { LLMPermissionError } from '../../ai/domain/errors/LLMErrors';
import { ObjectNotFoundError } from '../../ai/domain/errors/ObjectNotFoundError';
import type { LLMInvalidRequestError } from '../../ai/domain/errors/LLMErrors';
import type { PromptSource } from '../../ai/domain/interfaces/PromptSource';
import type { PromptReference } from '../../ai/domain/types/LLMTypes';
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

const PRODUCTION = 'production';
const MAX_LABELS = 5;

export class Prompts implements PromptSource {
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
    if (stored === undefined) throw unknownVersion(versions);
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

  /**
   * Has requests that name the label get this version from now on.
   * @param version null takes the label away
   * @throws UnknownPromptError; LLMInvalidRequestError for an unknown version; LLMPermissionError for a shared one
   */
  async label(actor: Actor, promptId: string, label: string, version: number | null): Promise<PromptView> {
    const prompt = await this.find(actor, promptId);
    assertMayChange(actor, prompt);
    const { versions, labels } = prompt;
    if (version !== null && !versions.some((each) => each.version === version)) throw unknownVersion(versions);
    if (version !== null && labels[label] === undefined && Object.keys(labels).length >= MAX_LABELS)
      throw invalid('label', `is one more than the ${MAX_LABELS} that a prompt can have`);
    await this.ports.store.setLabel(promptId, label, version ?? undefined);
    this.changed(actor, prompt);
    return toView(await this.find(actor, promptId));
  }

  async resolve(userId: string, { name, label, version, variables = {}, shared = false }: PromptReference) {
    const prompt = await this.ports.store.findNamed(userId, name, shared);
    if (prompt === undefined) throw invalid('prompt.name', 'is not the name of a saved prompt');
    const { versions, labels } = prompt;
    const wanted = version ?? labels[label ?? PRODUCTION] ?? (label === undefined ? prompt.version : undefined);
    if (wanted === undefined) throw invalid('prompt.label', `is no label of the prompt "${name}"`);
    const content = versions.find((each) => each.version === wanted)?.content;
    if (content === undefined) throw invalid('prompt.version', `is not stored; the prompt has ${rangeOf(versions)}`);
    const { instructions, input, temperature, maxOutputTokens, reasoning } = content;
    return {
      name,
      version: wanted,
      instructions: withVariables(instructions, variables),
      input: withVariables(input, variables),
      temperature,
      maxOutputTokens,
      reasoning,
    };
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

function toView({ _id, name, shared, version, updatedAt, labels }: StoredPrompt): PromptView {
  return { _id, name, shared, version, updatedAt, labels };
}

function unknownVersion(versions: readonly StoredVersion[]): LLMInvalidRequestError {
  return invalid('version', `is not stored; the prompt has ${rangeOf(versions)}`);
}

/** Values are not searched for variables in turn. */
function withVariables(text: string | undefined, variables: Readonly<Record<string, string>>): string | undefined {
  return text?.replace(/\{\{\s*([\w.-]+)\s*\}\}/g, (_match, variable: string) => {
    const value = Object.hasOwn(variables, variable) ? variables[variable] : undefined;
    if (value === undefined) throw invalid(`prompt.variables.${variable}`, 'is required by the prompt');
    return value;
  });
}

function rangeOf(versions: readonly StoredVersion[]): string {
  return `versions ${versions[0]?.version ?? 0} to ${versions.at(-1)?.version ?? 0}`;
}
