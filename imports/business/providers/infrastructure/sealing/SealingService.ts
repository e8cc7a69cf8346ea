/** Seals with AES-256-GCM. The binding is additional data, so a box copied to another row does not open. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SealedBox } from '../../domain/entities/StoredCredential';
import { SealError } from '../../domain/interfaces/Sealer';
import type { SealBinding, Sealer } from '../../domain/interfaces/Sealer';
import type { KeyRing } from './KeyRing';

const ALGORITHM = 'aes-256-gcm';
/** NIST SP 800-38D, 8.2.2: 96 random bits, safe for 2^32 boxes per key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Separates this format from later ones, and this use of the keys from others. */
const FORMAT = 'bolide-seal-1';

export class SealingService implements Sealer {
  private readonly ring: KeyRing;

  constructor(ring: KeyRing) {
    this.ring = ring;
  }

  get currentKeyId(): string {
    return this.ring.current.id;
  }

  seal(secret: string, binding: SealBinding): SealedBox {
    const { id, bytes } = this.ring.current;
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(ALGORITHM, bytes, nonce, { authTagLength: TAG_BYTES });
    cipher.setAAD(additionalData(binding));
    const sealed = Buffer.concat([nonce, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return { sealed: sealed.toString('base64url'), keyId: id };
  }

  open(box: SealedBox, binding: SealBinding): string {
    const key = this.ring.find(box.keyId);
    if (key === undefined) throw new SealError('unknown-key');
    const bytes = Buffer.from(box.sealed, 'base64url');
    // Accept the canonical encoding only, since the decoder skips invalid characters.
    if (bytes.length < NONCE_BYTES + TAG_BYTES || bytes.toString('base64url') !== box.sealed)
      throw new SealError('does-not-open');
    const decipher = createDecipheriv(ALGORITHM, key.bytes, bytes.subarray(0, NONCE_BYTES), {
      authTagLength: TAG_BYTES,
    });
    decipher.setAAD(additionalData(binding));
    decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
    try {
      return Buffer.concat([decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES)), decipher.final()]).toString(
        'utf8',
      );
    } catch {
      // The library's message would only help an attacker.
      throw new SealError('does-not-open');
    }
  }
}

/** JSON is unambiguous whatever the values contain, and distinguishes `null` from `'null'`. */
function additionalData(binding: SealBinding): Buffer {
  return Buffer.from(JSON.stringify([FORMAT, ...binding]), 'utf8');
}
