/** Encrypts secrets that are stored: a box opens only for the binding that it was sealed with. */

export interface SealedSecret {
  readonly sealed: string;
  readonly keyId: string;
}

export interface SecretSealer {
  /** The key that seals new boxes. */
  readonly currentKeyId: string;
  seal(secret: string, binding: readonly (string | null)[]): SealedSecret;
  /** @throws if the key is unknown, the box was altered, or the binding differs */
  open(box: SealedSecret, binding: readonly (string | null)[]): string;
}
