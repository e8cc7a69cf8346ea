/**
 * Tracks which responses an entity's chains hold, and their token usage. Both are written onto the entity itself, so
 * that they are saved with it.
 */
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import { isList, isObject } from '../../domain/util/json';
import type { Usage } from '../../domain/types/ResponsesAPITypes';

/** What is stored on an entity under the namespace. */
export interface EntityRecord {
  [chain: `${string}_chain`]: string[];
  usage?: Partial<EntityUsage>;
}

export interface EntityUsage {
  total_input_tokens: number;
  total_output_tokens: number;
  total_requests: number;
}

export interface ChainOptions {
  readonly entities: readonly unknown[];
  /** Default `_openai`. */
  readonly namespace?: string | undefined;
}

export const DEFAULT_NAMESPACE = '_openai';

/**
 * Keys are `"{chain}:{entityId}"`, split at the first colon: `intention:bob` is `intention_chain` on bob. Entities are
 * plain objects with an `identity.id` (string or number). They are changed in place and never copied; those without an
 * id are ignored.
 */
export class ResponseChainManager {
  private readonly entities: readonly unknown[];
  private readonly namespace: string;
  private readonly indexes = new Map<string, number>();

  /**
   * @param given the entities, searched anew for every key, so that the list may change; or the entities and the
   *   namespace as one object
   * @throws LLMInvalidRequestError if `entities` is no list
   */
  constructor(given: readonly unknown[] | ChainOptions, namespace?: string) {
    const options = isList(given) ? { entities: given, namespace } : given;
    // Boundary: callers without types pass maps and sets.
    if (!isList(options.entities))
      throw new LLMInvalidRequestError('"entities" must be a list of objects with "identity.id".', {
        path: 'entities',
      });
    this.entities = options.entities;
    this.namespace = options.namespace ?? DEFAULT_NAMESPACE;
  }

  /** Whether the key's entity exists. */
  has(key: string): boolean {
    return this.entityOf(key) !== undefined;
  }

  /**
   * @returns the id of the chain's last response; `null` for an empty chain or an unknown entity
   * @throws LLMInvalidRequestError if the entity holds something else under these names
   */
  getPrevious(key: string): string | null {
    return this.chainOf(key)?.at(-1) ?? null;
  }

  /**
   * Appends a response to the chain and evicts the oldest ones until `depth` are left. Depth 0 changes nothing.
   * @returns the evicted ids, oldest first
   */
  confirm(key: string, responseId: string, depth: number): string[] {
    if (depth === 0) return [];
    const record = this.recordOf(key, true);
    if (record === undefined) return [];
    const name = chainName(key);
    const chain = this.chainIn(record, name) ?? (record[name] = []);
    const evicted = chain.splice(0, Math.max(0, chain.length - depth + 1));
    chain.push(responseId);
    return evicted;
  }

  /**
   * Checks that the outcome of a request can be written onto the key's entity.
   * @throws LLMInvalidRequestError if the entity is frozen or holds something else under these names
   */
  assertWritable(key: string): void {
    const entity = this.entityOf(key);
    const record = this.recordOf(key, false);
    const usage: unknown = record?.usage ?? undefined;
    if (usage !== undefined && !isObject(usage))
      throw new LLMInvalidRequestError(
        `"${this.namespace}.usage" of the entity "${entityId(key) ?? ''}" must be an object.`,
        {
          path: `${this.namespace}.usage`,
        },
      );
    const chain = record === undefined ? undefined : this.chainIn(record, chainName(key));
    const targets = [record ?? entity, usage, chain].filter((target) => target !== undefined);
    if (!targets.every(Object.isExtensible))
      throw new LLMInvalidRequestError(
        `The entity "${entityId(key) ?? ''}" is frozen, so its chain and usage cannot be written onto it. Pass a mutable object.`,
        { path: this.namespace },
      );
  }

  /** Adds one request and its tokens to the entity's usage. */
  addUsage(key: string, usage: Pick<Usage, 'input_tokens' | 'output_tokens'>): void {
    const record = this.recordOf(key, true);
    if (record === undefined) return;
    const total = (record.usage ??= {});
    total.total_input_tokens = (total.total_input_tokens ?? 0) + usage.input_tokens;
    total.total_output_tokens = (total.total_output_tokens ?? 0) + usage.output_tokens;
    total.total_requests = (total.total_requests ?? 0) + 1;
  }

  private chainOf(key: string): string[] | undefined {
    const record = this.recordOf(key, false);
    return record === undefined ? undefined : this.chainIn(record, chainName(key));
  }

  private chainIn(record: EntityRecord, name: `${string}_chain`): string[] | undefined {
    // Boundary: entities come from the program's own files and databases, where `null` may mean absent.
    const chain: unknown = record[name] ?? undefined;
    if (chain === undefined) return undefined;
    if (Array.isArray(chain) && chain.every((id) => typeof id === 'string')) return chain;
    throw new LLMInvalidRequestError(`"${this.namespace}.${name}" must be a list of response ids.`, {
      path: `${this.namespace}.${name}`,
    });
  }

  private recordOf(key: string, create: boolean): EntityRecord | undefined {
    const entity = this.entityOf(key);
    if (entity === undefined) return undefined;
    const record = entity[this.namespace] ?? (create ? (entity[this.namespace] = {}) : undefined);
    if (record === undefined) return undefined;
    // Boundary: fields besides the chains are checked when they are read.
    if (isObject(record)) return record as EntityRecord;
    throw new LLMInvalidRequestError(`"${this.namespace}" of the entity "${entityId(key)}" must be an object.`, {
      path: this.namespace,
    });
  }

  private entityOf(key: string): Record<string, unknown> | undefined {
    const id = entityId(key);
    if (id === undefined) return undefined;
    const cachedIndex = this.indexes.get(id);
    const entity = cachedIndex === undefined ? undefined : this.entities[cachedIndex];
    if (isObject(entity) && idOf(entity) === id) return entity;
    const index = this.entities.findIndex((candidate) => idOf(candidate) === id);
    if (index === -1) return undefined;
    this.indexes.set(id, index);
    const found = this.entities[index];
    return isObject(found) ? found : undefined;
  }
}

function entityId(key: string): string | undefined {
  const colon = key.indexOf(':');
  return colon === -1 ? undefined : key.slice(colon + 1);
}

function chainName(key: string): `${string}_chain` {
  return `${key.slice(0, key.indexOf(':'))}_chain`;
}

function idOf(entity: unknown): string | undefined {
  if (!isObject(entity) || !isObject(entity.identity)) return undefined;
  const { id } = entity.identity;
  return typeof id === 'string' || typeof id === 'number' ? String(id) : undefined;
}
