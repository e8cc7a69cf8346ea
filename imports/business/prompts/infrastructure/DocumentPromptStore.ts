/** Saved prompts in a document collection. A prompt is one document that contains its versions. */
import { LLMInvalidRequestError, LLMServerError } from '../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { DocumentCollection, StoredDocument } from '../../../database/DocumentCollection';
import type { PromptStore, StoredPrompt } from '../domain/PromptStore';
import type { PromptContent, PromptView } from '../domain/Prompts';
import type { DocumentDatabase } from '../../../database/DocumentDatabase';
import { hashedId } from '../../../database/hashedId';
import { insertNew } from '../../../database/insertNew';

export interface PromptDocument extends StoredDocument {
  /** A user's id, or `SHARED`. */
  readonly owner: string;
  readonly userId?: string;
  readonly name: string;
  readonly version: number;
  readonly updatedAt: number;
  /** Absent: no version has one. */
  readonly labels?: Readonly<Record<string, number>>;
  /** Contents are JSON text, because the keys of schemas may contain `$` and `.`. */
  readonly versions: readonly { readonly version: number; readonly at: number; readonly content: string }[];
}

export const PROMPTS = 'ai_prompts';

/** The owner of prompts that everyone can use. Ids of users are never empty. */
const SHARED = '';

/** Prompts of a user, and shared prompts. */
const MAX_PROMPTS = 500;
/**
 * Versions of a prompt; older ones without a label are removed. With their contents' limit, far below the 16 MiB of a
 * document.
 */
const MAX_VERSIONS = 20;
/** Each attempt that fails is another save that succeeded. */
const MAX_ATTEMPTS = 20;

const LISTED = { owner: 1, name: 1, version: 1, updatedAt: 1, labels: 1 } as const;

export async function openPromptStore(database: Pick<DocumentDatabase, 'collection'>): Promise<DocumentPromptStore> {
  const prompts = database.collection<PromptDocument>(PROMPTS);
  await prompts.ensureIndex({ owner: 1, name: 1 }, { unique: true });
  await prompts.ensureIndex({ userId: 1 });
  return new DocumentPromptStore(prompts);
}

export class DocumentPromptStore implements PromptStore {
  private readonly prompts: DocumentCollection<PromptDocument>;

  constructor(prompts: DocumentCollection<PromptDocument>) {
    this.prompts = prompts;
  }

  async list(userId: string): Promise<readonly PromptView[]> {
    const found = await this.prompts.find(
      { owner: { $in: [userId, SHARED] } },
      { sort: { name: 1 }, limit: 2 * MAX_PROMPTS, fields: LISTED },
    );
    return found.map(toView);
  }

  async find(userId: string, promptId: string): Promise<StoredPrompt | undefined> {
    const found = await this.prompts.findOne({ _id: promptId, owner: { $in: [userId, SHARED] } });
    return found === undefined ? undefined : toStored(found);
  }

  async findNamed(userId: string, name: string, shared: boolean): Promise<StoredPrompt | undefined> {
    const ids = (shared ? [SHARED] : [userId, SHARED]).map((owner) => hashedId(owner, name));
    const found = await this.prompts.find({ _id: { $in: ids } });
    const own = found.find(({ owner }) => owner !== SHARED) ?? found[0];
    return own === undefined ? undefined : toStored(own);
  }

  async setLabel(promptId: string, label: string, version: number | undefined): Promise<void> {
    const field = `labels.${label}`;
    await this.prompts.update(
      { _id: promptId },
      version === undefined ? { $unset: { [field]: true } } : { $set: { [field]: version } },
    );
  }

  async save(
    userId: string,
    { name, shared }: { readonly name: string; readonly shared: boolean },
    content: PromptContent,
  ): Promise<StoredPrompt> {
    const owner = shared ? SHARED : userId;
    // By name, so that two processes that save the same name write one document.
    const _id = hashedId(owner, name);
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt += 1) {
      const before = await this.prompts.findOne({ _id });
      const saved = this.withVersion(before ?? { _id, owner, name, version: 0, versions: [] }, userId, content);
      if (before === undefined ? await this.insert(saved) : await this.replace(before, saved)) return toStored(saved);
    }
    throw new LLMServerError(`The prompt "${name}" is being saved by others. Try again.`, { retryable: true });
  }

  async remove(promptId: string): Promise<boolean> {
    return (await this.prompts.remove({ _id: promptId })) === 1;
  }

  private withVersion(
    before: Omit<PromptDocument, 'updatedAt'>,
    userId: string,
    content: PromptContent,
  ): PromptDocument {
    const version = before.version + 1;
    const at = Date.now();
    const labelled = new Set(Object.values(before.labels ?? {}));
    const versions = [
      ...before.versions.filter(
        (each, index, { length }) => index > length - MAX_VERSIONS || labelled.has(each.version),
      ),
      { version, at, content: JSON.stringify(content) },
    ];
    return { ...before, userId, version, updatedAt: at, versions };
  }

  /** @returns false if another process has saved the name meanwhile */
  private async insert(prompt: PromptDocument): Promise<boolean> {
    const owned = await this.prompts.find({ owner: prompt.owner }, { limit: MAX_PROMPTS, fields: { _id: 1 } });
    if (owned.length >= MAX_PROMPTS)
      throw new LLMInvalidRequestError(`There are ${MAX_PROMPTS} prompts already. Remove one first.`, { path: 'name' });
    return insertNew(this.prompts, prompt);
  }

  /** @returns false if another process has saved a version meanwhile */
  private async replace({ _id, version: expected }: PromptDocument, saved: PromptDocument): Promise<boolean> {
    const { userId = '', version, updatedAt, versions } = saved;
    const $set = { userId, version, updatedAt, versions };
    return (await this.prompts.update({ _id, version: expected }, { $set })) === 1;
  }
}

function toView({ _id, owner, name, version, updatedAt, labels = {} }: PromptDocument): PromptView {
  return { _id, name, shared: owner === SHARED, version, updatedAt, labels };
}

function toStored(prompt: PromptDocument): StoredPrompt {
  const { userId, versions } = prompt;
  return omitUndefined({
    ...toView(prompt),
    userId,
    versions: versions.map(({ content, ...version }) => ({
      ...version,
      content: JSON.parse(content) as PromptContent,
    })),
  });
}
