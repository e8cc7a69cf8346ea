/** AES-256-GCM boxes whose additional data says where they belong: a row pasted into another place does not open. */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import type { SealedBox } from '../../domain/entities/StoredCredential';
import { SealError } from '../../domain/interfaces/Sealer';
import type { SealBinding, Sealer } from '../../domain/interfaces/Sealer';
import type { KeyRing } from './KeyRing';

const ALGORITHM = 'aes-256-gcm';
/** NIST SP 800-38D, 8.2.2: 96 random bits, good for 2^32 boxes a key. */
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** Tells this form of box from later ones, and this use of a key from others. */
const FORM = 'bolide-seal-1';

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
    // A box has one spelling: base64 readers skip what they don't know.
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
      // What the library says of it helps nobody but an attacker.
      throw new SealError('does-not-open');
    }
  }
}

/** JSON keeps the facts apart whatever they contain, and `null` from `'null'`. */
function additionalData(binding: SealBinding): Buffer {
  return Buffer.from(JSON.stringify([FORM, ...binding]), 'utf8');
}
