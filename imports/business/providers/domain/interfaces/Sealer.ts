/** Encrypts secrets into boxes that open only for the binding they were sealed with. */
import type { SealedBox } from '../entities/StoredCredential';

/** What a box is bound to: values in a fixed order. */
export type SealBinding = readonly (string | null)[];

export interface Sealer {
  /** The key that seals new boxes. */
  readonly currentKeyId: string;
  seal(secret: string, binding: SealBinding): SealedBox;
  /** @throws SealError if the key is unknown, the box was altered, or the binding differs */
  open(box: SealedBox, binding: SealBinding): string;
}

/** An error whose message reveals nothing of the content. */
export class SealError extends Error {
  readonly reason: 'unknown-key' | 'does-not-open';

  constructor(reason: 'unknown-key' | 'does-not-open') {
    super(
      reason === 'unknown-key'
        ? 'The secret is sealed with a key that is not in the key ring.'
        : 'The sealed secret cannot be opened: it was altered or belongs elsewhere.',
    );
    this.name = 'SealError';
    this.reason = reason;
  }
}
