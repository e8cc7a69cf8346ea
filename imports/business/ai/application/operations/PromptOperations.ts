/** `ai.prompts.*` for any transport: saved prompts, which users own and admins share. */
import {
  boolean,
  identifier,
  integer,
  invalid,
  line,
  listOf,
  numberBetween,
  optional,
  optionalValue,
  readObject,
  required,
  text,
} from '../../domain/arguments';
import { LLMInvalidRequestError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { PromptStore, StoredPrompt, StoredVersion } from '../../domain/interfaces/PromptStore';
import type { Actor } from '../../domain/types/Actor';
import type { Operation } from '../../domain/types/Operation';
import type { PromptContent, PromptDetailView, PromptView } from '../../domain/types/Prompts';
import { ARGUMENT_LIMITS, jsonSchema, toolName } from './readArguments';
import { INPUT_LIMITS } from './readInput';
import { signedIn } from './RunOperations';

/** Every operation throws LLMAuthError if nobody is signed in, and LLMInvalidRequestError for invalid arguments. */
export interface PromptOperations {
  /** Own and shared prompts, by name. */
  readonly 'ai.prompts.list': Operation<{ readonly prompts: readonly PromptView[] }>;
  /** Takes `{ promptId, version? }`; default: the newest version. */
  readonly 'ai.prompts.get': Operation<PromptDetailView>;
  /** Takes `{ name, shared?, content }`. Saving the same name makes a new version. @throws LLMPermissionError */
  readonly 'ai.prompts.save': Operation<PromptView>;
  /** Takes `{ promptId }`. Removes every version. @throws LLMPermissionError */
  readonly 'ai.prompts.remove': Operation<{ readonly removed: boolean }>;
}

const MAX_NAME_LENGTH = 120;
/** Characters of a version's JSON. */
const MAX_CONTENT_LENGTH = 400_000;

/** @param onChange receives the user whose prompt has changed; nobody for a shared one */
export function createPromptOperations(
  store: PromptStore,
  onChange: (userId?: string) => void = () => undefined,
): PromptOperations {
  /** @throws UnknownPromptError */
  const find = async ({ userId }: Actor, promptId: string): Promise<StoredPrompt> => {
    const found = await store.find(userId, promptId);
    if (found === undefined) throw new UnknownPromptError();
    return found;
  };
  return {
    async 'ai.prompts.list'(actor, argument = {}) {
      signedIn(actor);
      readObject(argument, []);
      return { prompts: await store.list(actor.userId) };
    },
    async 'ai.prompts.get'(actor, argument) {
      signedIn(actor);
      const fields = readObject(argument, ['promptId', 'version']);
      const prompt = await find(actor, required(fields, 'promptId', identifier(ARGUMENT_LIMITS.id)));
      const version = optionalValue(fields, 'version', integer(1, Number.MAX_SAFE_INTEGER)) ?? prompt.version;
      const stored = prompt.versions.find((each) => each.version === version);
      if (stored === undefined) throw invalid('version', `is not stored; the prompt has ${rangeOf(prompt.versions)}`);
      return {
        ...toPromptView(prompt),
        version,
        updatedAt: stored.at,
        content: stored.content,
        versions: prompt.versions.map(({ version: number, at }) => ({ version: number, at })).reverse(),
      };
    },
    async 'ai.prompts.save'(actor, argument) {
      signedIn(actor);
      const fields = readObject(argument, ['name', 'shared', 'content']);
      const name = required(fields, 'name', line(MAX_NAME_LENGTH)).trim();
      const shared = optionalValue(fields, 'shared', boolean) ?? false;
      const content = required(fields, 'content', promptContent);
      if (shared) assertAdmin(actor);
      const saved = toPromptView(await store.save(actor.userId, { name, shared }, content));
      onChange(shared ? undefined : actor.userId);
      return saved;
    },
    async 'ai.prompts.remove'(actor, argument) {
      signedIn(actor);
      const promptId = required(readObject(argument, ['promptId']), 'promptId', identifier(ARGUMENT_LIMITS.id));
      const prompt = await find(actor, promptId);
      if (prompt.shared) assertAdmin(actor);
      const removed = await store.remove(promptId);
      onChange(prompt.shared ? undefined : actor.userId);
      return { removed };
    },
  };
}

export class UnknownPromptError extends LLMInvalidRequestError {
  constructor() {
    super('There is no such prompt.', { path: 'promptId' });
  }

  override get httpStatus(): number {
    return 404;
  }
}

function assertAdmin({ isAdmin }: Actor): void {
  if (isAdmin !== true) throw new LLMPermissionError('Only administrators may change prompts that everyone can use.');
}

function toPromptView({ _id, name, shared, version, updatedAt }: StoredPrompt): PromptView {
  return { _id, name, shared, version, updatedAt };
}

function rangeOf(versions: readonly StoredVersion[]): string {
  return `versions ${versions[0]?.version ?? 0} to ${versions.at(-1)?.version ?? 0}`;
}

function promptContent(value: unknown, path: string): PromptContent {
  const fields = readObject(value, CONTENT_FIELDS, path);
  const at = (name: string): string => `${path}.${name}`;
  const content: PromptContent = {
    ...optional(fields, 'input', text(INPUT_LIMITS.text), at('input')),
    ...optional(fields, 'instructions', text(ARGUMENT_LIMITS.instructions), at('instructions')),
    ...optional(fields, 'providerId', identifier(ARGUMENT_LIMITS.id), at('providerId')),
    ...optional(fields, 'model', identifier(ARGUMENT_LIMITS.model), at('model')),
    ...optional(fields, 'temperature', numberBetween(0, 2), at('temperature')),
    ...optional(fields, 'maxOutputTokens', integer(1, 1_000_000), at('maxOutputTokens')),
    ...optional(fields, 'reasoning', identifier(ARGUMENT_LIMITS.effort), at('reasoning')),
    ...optional(fields, 'schema', jsonSchema, at('schema')),
    ...optional(fields, 'tools', listOf(ARGUMENT_LIMITS.tools, toolName), at('tools')),
  };
  if (JSON.stringify(content).length > MAX_CONTENT_LENGTH)
    throw invalid(path, `must be no larger than ${MAX_CONTENT_LENGTH} characters of JSON`);
  return content;
}

const CONTENT_FIELDS = [
  'input',
  'instructions',
  'providerId',
  'model',
  'temperature',
  'maxOutputTokens',
  'reasoning',
  'schema',
  'tools',
] as const satisfies readonly (keyof PromptContent)[];
