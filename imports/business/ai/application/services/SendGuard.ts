/** Checks requests from outside before they are sent: the vendor's tools that they use, and the objects they name. */
import { LLMPermissionError } from '../../domain/errors/LLMErrors';
import type { AccessPolicy } from '../../domain/interfaces/AccessPolicy';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { SentRequest } from '../../domain/types/StoredObjects';
import type { ObjectUser, VendorObjects } from './VendorObjects';

export class SendGuard {
  readonly objects: VendorObjects;
  private readonly access: AccessPolicy | undefined;

  /** @param access default: everyone may use every tool of a vendor */
  constructor(objects: VendorObjects, access: AccessPolicy | undefined) {
    this.objects = objects;
    this.access = access;
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

  /** @throws LLMPermissionError for a tool of the vendor's, ObjectNotFoundError for an object, that is not permitted */
  async check(user: ObjectUser, request: SentRequest): Promise<void> {
    await this.checkTools(user, request);
    // Admins own the vendors' accounts.
    if (user.origin?.ownObjectsOnly === true) await this.objects.check(user, request);
  }

  private async checkTools({ userId, origin }: ObjectUser, { providerId, hostedTools }: SentRequest): Promise<void> {
    if (this.access === undefined || hostedTools.length === 0) return;
    const { tokenId } = origin ?? {};
    const actor = { userId, source: 'http', ...(tokenId === undefined ? {} : { tokenId }) } as const;
    const permission = await this.access.decide(actor, { providerId, tools: [], hostedTools });
    if (!permission.allowed) throw new LLMPermissionError(permission.reason, { path: 'tools' });
  }
}
