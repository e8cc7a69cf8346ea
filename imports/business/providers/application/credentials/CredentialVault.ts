/** Seals and opens credentials. A credential opens only for the provider, user and destination it was sealed for. */
import { createHash } from 'node:crypto';
import { LLMAuthError } from '../../../ai/domain/errors/LLMErrors';
import type { Provider } from '../../domain/entities/Provider';
import { serializeDestination } from '../../domain/entities/StoredCredential';
import type {
  CredentialId,
  CredentialKind,
  SealedBox,
  SecretContent,
  StoredCredential,
} from '../../domain/entities/StoredCredential';
import type { CredentialStore } from '../../domain/interfaces/CredentialStore';
import type { EventLog } from '../../domain/interfaces/EventLog';
import { SealError } from '../../domain/interfaces/Sealer';
import type { SealBinding, Sealer } from '../../domain/interfaces/Sealer';

export interface CredentialVaultPorts {
  readonly store: CredentialStore;
  readonly sealer: Sealer;
  readonly log: EventLog;
}

export interface OpenedCredential {
  readonly row: StoredCredential;
  readonly content: SecretContent;
}

export interface RotationResult {
  readonly resealed: number;
  /** Credentials that could not be opened because their key is unknown or they were altered. They are left as is. */
  readonly unopened: number;
}

/** Stored unencrypted beside the sealed secret. */
export interface SecretMetadata {
  readonly expiresAt?: number;
  readonly scopes?: readonly string[];
}

export class CredentialVault {
  readonly store: CredentialStore;
  private readonly sealer: Sealer;
  private readonly log: EventLog;

  constructor({ store, sealer, log }: CredentialVaultPorts) {
    this.store = store;
    this.sealer = sealer;
    this.log = log;
  }

  /**
   * @param reading the credential, if it is being read already
   * @returns undefined if there is no such credential
   * @throws LLMAuthError if there is one that can't be used
   */
  async open(
    provider: Provider,
    kind: CredentialKind,
    userId: string | null,
    reading = this.store.find({ providerId: provider._id, userId, kind }),
  ): Promise<OpenedCredential | undefined> {
    const row = await reading;
    if (row === undefined) return undefined;
    if (row.destination !== destinationHash(provider)) {
      this.log.warn('credential:other-destination', idFields(row));
      throw new LLMAuthError(
        `The stored secret for "${provider.name}" was entered for another address of this provider. Enter it again.`,
      );
    }
    return { row, content: await this.openRow(row, provider.name) };
  }

  seal(row: CredentialId & { readonly destination: string }, content: SecretContent): SealedBox {
    return this.sealer.seal(JSON.stringify(content), bindingOf(row));
  }

  /** Stores a new grant, replacing any existing one. */
  async put(
    provider: Provider,
    kind: CredentialKind,
    userId: string | null,
    content: SecretContent,
    metadata: SecretMetadata = {},
  ): Promise<void> {
    const id = { providerId: provider._id, userId, kind, destination: destinationHash(provider) };
    await this.store.put({ ...id, ...this.seal(id, content), state: 'ready', ...metadata });
  }

  /** Reseals with the current key everything that was sealed with another one. */
  async rotate(): Promise<RotationResult> {
    const rows = await this.store.notSealedWith(this.sealer.currentKeyId);
    let resealed = 0;
    let unopened = 0;
    for (const row of rows) {
      const content = this.tryOpen(row);
      if (typeof content !== 'object') unopened += 1;
      else if (await this.store.reseal(row, this.seal(row, content))) resealed += 1;
    }
    this.log.info('credentials:rotated', { resealed, unopened, keyId: this.sealer.currentKeyId });
    return { resealed, unopened };
  }

  /** The content of a row that has been removed from the store, or undefined if it can't be opened. */
  contentOf(row: StoredCredential): SecretContent | undefined {
    const content = this.tryOpen(row);
    return typeof content === 'object' ? content : undefined;
  }

  private async openRow(row: StoredCredential, name: string): Promise<SecretContent> {
    const content = this.tryOpen(row);
    if (typeof content !== 'object') {
      const problem =
        content === 'unknown-key' ? 'is encrypted with a key that this server does not have' : 'cannot be decrypted';
      throw new LLMAuthError(`The stored secret for "${name}" ${problem}. Enter it again.`);
    }
    if (row.keyId !== this.sealer.currentKeyId) await this.store.reseal(row, this.seal(row, content));
    return content;
  }

  private tryOpen(row: StoredCredential): SecretContent | SealError['reason'] {
    try {
      // Only this class seals under this binding.
      return JSON.parse(this.sealer.open(row, bindingOf(row))) as SecretContent;
    } catch (error) {
      if (!(error instanceof SealError)) throw error;
      this.log.warn('credential:does-not-open', { ...idFields(row), reason: error.reason, keyId: row.keyId });
      return error.reason;
    }
  }
}

/** A comparable form of where a provider's secrets may be sent. */
export function destinationHash(provider: Provider): string {
  return createHash('sha256').update(serializeDestination(provider)).digest('base64url');
}

function bindingOf({
  providerId,
  userId,
  kind,
  destination,
}: CredentialId & { readonly destination: string }): SealBinding {
  return ['credential', providerId, userId, kind, destination];
}

function idFields({ providerId, userId, kind }: CredentialId): {
  providerId: string;
  userId: string | null;
  kind: string;
} {
  return { providerId, userId, kind };
}
