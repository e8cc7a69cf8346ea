/**
 * The objects that the gateway's callers upload, list and delete at a vendor, each their own. Users may share a key,
 * and with it an account; with an account of their own, everything in it is theirs.
 */
import type { SendGuard } from '../../business/ai/application/services/SendGuard';
import type { ObjectUser, VendorObjects } from '../../business/ai/application/services/VendorObjects';
import { ObjectNotFoundError } from '../../business/ai/domain/errors/ObjectNotFoundError';
import type { GenerateOptions } from '../../business/ai/domain/types/LLMTypes';
import type { NamedObject } from '../../business/ai/domain/types/StoredObjects';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import { findHostedTools } from '../../business/ai/infrastructure/vendors/findHostedTools';
import { findNamedModels } from '../../business/ai/infrastructure/vendors/modelFields';
import { findStoredObjects } from '../../business/ai/infrastructure/vendors/findStoredObjects';
import type { RequestForm } from '../../business/ai/infrastructure/vendors/storedObjectFields';
import { hasScope } from '../auth/ApiPrincipal';
import type { ApiPrincipal } from '../auth/ApiPrincipal';
import { gatewayOrigin } from './vendorCall';

/** An object as its caller may use it. */
export interface OwnedObject {
  /** The provider by which it was created, if that is known. */
  readonly providerId: string | undefined;
  /** To be called before a request about the object is sent: with a key of the caller's own, every object is theirs. */
  readonly onSend: NonNullable<GenerateOptions['onSend']>;
}

export class VendorObjectGuard {
  private readonly guard: SendGuard;
  private readonly objects: VendorObjects;

  constructor(guard: SendGuard) {
    this.guard = guard;
    this.objects = guard.objects;
  }

  /** What must be called before a request that is not sent by the manager. Absent: it may name anything. */
  guardOf(principal: ApiPrincipal): GenerateOptions['onSend'] {
    return this.guard.guardOf(userOf(principal));
  }

  /**
   * @param noun of the object, for the error
   * @returns what throws an ObjectNotFoundError for an object that the caller did not create
   */
  async locate(principal: ApiPrincipal, noun: string, id: string, path?: string): Promise<OwnedObject> {
    const facts = await this.objects.store.find(principal.userId, id);
    const isAllowed = facts !== undefined || hasScope(principal, 'admin');
    return {
      providerId: facts?.providerId,
      onSend: ({ isOwnAccount }) => {
        if (isAllowed || isOwnAccount) return Promise.resolve();
        throw new ObjectNotFoundError(`${noun} "${id.slice(0, 100)}" not found.`, path === undefined ? {} : { path });
      },
    };
  }

  /**
   * Checks a request in a vendor's format, such as one of a batch.
   * @param path where the request is, for errors
   * @throws ObjectNotFoundError, LLMPermissionError for an object or a tool of the vendor's that is not the caller's,
   *   LLMModelNotFoundError
   */
  async checkRequest(
    principal: ApiPrincipal,
    { providerId, isOwnAccount, form, forms, request, path }: CheckedRequest,
  ): Promise<void> {
    const check = this.guardOf(principal);
    if (check === undefined) return;
    const objects = findStoredObjects(form, request).map((object): NamedObject => ({
      ...object,
      path: `${path}.${object.path}`,
    }));
    const hostedTools = form === 'media' ? [] : findHostedTools(form, request);
    const models = findNamedModels(forms ?? [form], request).map((model) => ({
      ...model,
      path: `${path}.${model.path}`,
    }));
    await check({ providerId, isOwnAccount, objects, hostedTools, models });
  }

  /** Records objects that their vendor stores until they are deleted. */
  keep({ userId }: ApiPrincipal, ids: readonly string[], providerId: string): Promise<void> {
    return ids.length === 0 ? Promise.resolve() : this.objects.store.record(userId, ids, { providerId, isKept: true });
  }

  forget({ userId }: ApiPrincipal, id: string): Promise<void> {
    return this.objects.store.remove(userId, [id]);
  }

  /** The objects among `ids` that the caller may see. */
  async visibleAmong(
    principal: ApiPrincipal,
    ids: readonly string[],
    isOwnAccount: boolean,
  ): Promise<ReadonlySet<string>> {
    return isOwnAccount || hasScope(principal, 'admin')
      ? new Set(ids)
      : this.objects.store.ownedAmong(principal.userId, ids);
  }
}

export interface CheckedRequest {
  readonly providerId: string;
  readonly isOwnAccount: boolean;
  readonly form: RequestForm;
  /** The APIs that it may be one of. Default: `form` alone. */
  readonly forms?: readonly RequestForm[];
  readonly request: JsonObject;
  readonly path: string;
}

function userOf(principal: ApiPrincipal): ObjectUser {
  return { userId: principal.userId, origin: gatewayOrigin('objects', principal, {}) };
}
