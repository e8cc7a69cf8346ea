/**
 * Checks requests from outside before they are sent: the vendor's tools that they use, and the objects and further
 * models that they name.
 */
import { LLMModelNotFoundError, LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { SentRequest } from '../../domain/types/StoredObjects';
import type { LimitedToken } from '../../domain/types/ApiTokenLimits';
import { assertModelPermitted } from './shared/assertModelPermitted';
import type { ObjectUser, VendorObjects } from './VendorObjects';

export interface SendGuardPorts {
  readonly objects: VendorObjects;
  /** Default: everyone may use every tool of a vendor. */
  readonly access: AccessPolicy | undefined;
  /** Default: API tokens may use every model. */
  readonly tokens: { find(tokenId: string): LimitedToken | undefined | Promise<LimitedToken | undefined> } | undefined;
  /** Undefined for a provider whose models are all permitted. */
  readonly allowedModelsOf: (providerId: string) => readonly string[] | undefined;
}

export class SendGuard {
  readonly objects: VendorObjects;
  private readonly ports: SendGuardPorts;

  constructor(ports: SendGuardPorts) {
    this.objects = ports.objects;
    this.ports = ports;
  }

  /**
   * What is called with every request before it is sent.
   * @returns undefined for the app's own code
   */
  guardOf(user: ObjectUser): GenerateOptions['onSend'] {
    const { origin } = user;
    if (origin?.ownObjectsOnly !== true && origin?.tokenId === undefined) return undefined;
    return (request) => this.check(user, request);
  }

  /**
   * @throws LLMPermissionError for a tool of the vendor's, LLMPermissionError or LLMModelNotFoundError for a model,
   *   ObjectNotFoundError for an object, that is not permitted
   */
  async check(user: ObjectUser, request: SentRequest): Promise<void> {
    if (request.hostedTools.length > 0) await this.checkTools(user, request);
    if (request.models.length > 0) await this.checkModels(user, request);
    // Admins own the vendors' accounts.
    if (user.origin?.ownObjectsOnly === true) await this.objects.check(user, request);
  }

  private async checkTools({ userId, origin }: ObjectUser, { providerId, hostedTools }: SentRequest): Promise<void> {
    const { access } = this.ports;
    if (access === undefined) return;
    const { tokenId } = origin ?? {};
    const actor = { userId, source: 'http', ...omitUndefined({ tokenId }) } as const;
    const permission = await access.decide(actor, { providerId, tools: [], hostedTools });
    if (!permission.allowed) throw new LLMPermissionError(permission.reason, { path: 'tools' });
  }

  /** The request's own model was checked before. */
  private async checkModels({ origin }: ObjectUser, { providerId, models }: SentRequest): Promise<void> {
    const { tokens, allowedModelsOf } = this.ports;
    const allowed = allowedModelsOf(providerId);
    const token = origin?.tokenId === undefined ? undefined : await tokens?.find(origin.tokenId);
    for (const { name, path } of models) {
      if (name === undefined) {
        if (allowed === undefined && token?.models === undefined) continue;
        throw new LLMPermissionError(
          `By "${path}", the vendor could choose any model, but you may use only some. Leave it out; "model" names yours.`,
          { path, vendorCode: 'model_not_found' },
        );
      }
      if (allowed?.includes(name) === false)
        throw new LLMModelNotFoundError(
          `The provider '${providerId}' has no model '${name}' (${path}); it has ${allowed.join(', ')}.`,
          { path },
        );
      if (token !== undefined) assertModelPermitted(token, [`${providerId}/${name}`, name], path);
    }
  }
}
