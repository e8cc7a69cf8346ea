/**
 * Who may name which object at a vendor. Users who share a provider's key share its account, and with it all that the
 * account stores; so each may name what they made, and what the operator shares with everyone.
 */
import { createdObjects } from '../../domain/entities/createdObjects';
import { ObjectNotFoundError } from '../../domain/errors/ObjectNotFoundError';
import type { ResponseStore } from '../../domain/interfaces/ResponseStore';
import type { VendorObjectStore } from '../../domain/interfaces/VendorObjectStore';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { CallOrigin } from '../../domain/types/RequestRecords';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { NamedObject, SentRequest, StoredObjectKind } from '../../domain/types/StoredObjects';

export interface VendorObjectsPorts {
  readonly store: VendorObjectStore;
  /** Knows whose responses and items vendors keep. */
  readonly responses: Pick<ResponseStore, 'find' | 'findItem'>;
  /** What the operator shares of a provider's account: ids, or the beginnings of ids with a `*`. */
  readonly sharedOf: (providerId: string) => readonly string[];
}

/** Whose request it is, and how it came. */
export interface ObjectUser {
  readonly userId: string;
  readonly origin?: CallOrigin | undefined;
}

export class VendorObjects {
  /** Who made what. */
  readonly store: VendorObjectStore;
  private readonly ports: VendorObjectsPorts;

  constructor(ports: VendorObjectsPorts) {
    this.store = ports.store;
    this.ports = ports;
  }

  /** @throws ObjectNotFoundError for an object that is neither the user's nor shared */
  async check({ userId, origin }: ObjectUser, request: Omit<SentRequest, 'hostedTools' | 'models'>): Promise<void> {
    if (request.isOwnAccount) return;
    const isGateway = origin?.source === 'gateway';
    const checked = new Set<string>();
    for (const object of request.objects) {
      const key = `${object.kind} ${object.id}`;
      // The settings of a run are the operator's.
      if (checked.has(key) || (!isGateway && !object.isInput)) continue;
      checked.add(key);
      if (!(await this.mayName(userId, request.providerId, object))) throw notFound(object);
    }
  }

  isShared(providerId: string, id: string): boolean {
    return this.ports
      .sharedOf(providerId)
      .some((shared) => (shared.endsWith('*') ? id.startsWith(shared.slice(0, -1)) : shared === id));
  }

  /** Records what a response has made in a shared account. */
  async record(
    { userId }: ObjectUser,
    options: Pick<GenerateOptions, 'vendor'>,
    response: LLMResponse,
    providerId: string,
  ): Promise<void> {
    const ids = createdObjects(options, response).filter((id) => !this.isShared(providerId, id));
    if (ids.length > 0) await this.store.record(userId, ids, { providerId });
  }

  private async mayName(userId: string, providerId: string, { kind, id }: NamedObject): Promise<boolean> {
    if (this.isShared(providerId, id)) return true;
    switch (kind) {
      case 'response':
        return (await this.ports.responses.find(userId, id)) !== undefined;
      case 'item':
        return (await this.ports.responses.findItem(userId, id)) !== undefined;
      default:
        return this.store.isOwner(userId, id);
    }
  }
}

const MAX_ID_LENGTH = 100;

/** The same whether the object exists or not. */
function notFound({ kind, id, path }: NamedObject): ObjectNotFoundError {
  const shown = id.slice(0, MAX_ID_LENGTH);
  // Anthropic's wording and code: its SDK continues without a thread.
  if (kind === 'thread')
    return new ObjectNotFoundError(`No thread continues from message "${shown}".`, {
      path,
      errorCode: 'thread_not_found',
    });
  return new ObjectNotFoundError(`${nounOf(kind)} "${shown}" not found.`, { path });
}

function nounOf(kind: StoredObjectKind): string {
  return `${kind.charAt(0).toUpperCase()}${kind.slice(1)}`;
}
