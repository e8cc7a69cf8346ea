/** Turns secrets into boxes that open only in the place that they were made for. */
import type { SealedBox } from '../entities/StoredCredential';

/** What a box is bound to: its facts in a fixed order. */
export type SealBinding = readonly (string | null)[];

export interface Sealer {
  /** The key that seals now. */
  readonly currentKeyId: string;
  seal(secret: string, binding: SealBinding): SealedBox;
  /** @throws SealError when the key is unknown, the box was altered, or it belongs elsewhere */
  open(box: SealedBox, binding: SealBinding): string;
}

/** The message never says anything of the content. */
export class SealError extends Error {
  readonly reason: 'unknown-key' | 'does-not-open';

  constructor(reason: 'unknown-key' | 'does-not-open') {
    super(
      reason === 'unknown-key'
        ? 'a secret is sealed with a key that is not in the key ring'
        : 'a sealed secret does not open: it was altered or belongs elsewhere',
    );
    this.name = 'SealError';
    this.reason = reason;
  }
}
