/**
 * Encrypts the summaries in compaction items, so that only this app can read them, and only for the user whose
 * conversation they summarize. AES-256-GCM (NIST SP 800-38D) with a random nonce and the user id as additional data.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto';
import { LLMInvalidRequestError } from '../../../business/ai/domain/errors/LLMErrors';

const MARK = 'bolide.c1.';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;

export class EncryptedSummaries {
  private readonly keys: readonly Buffer[];

  /** @param secrets at least one: the first seals, all open */
  constructor(secrets: readonly Buffer[]) {
    if (secrets.length === 0)
      throw new LLMInvalidRequestError('At least one key is required to encrypt summaries.', { path: 'secrets' });
    this.keys = secrets.map((secret) => Buffer.from(hkdfSync('sha256', secret, '', 'bolide compaction', 32)));
  }

  seal(userId: string, summary: string): string {
    const nonce = randomBytes(NONCE_BYTES);
    const [key] = this.keys;
    if (key === undefined)
      throw new LLMInvalidRequestError('There is no key to encrypt summaries.', { path: 'secrets' });
    const cipher = createCipheriv('aes-256-gcm', key, nonce).setAAD(Buffer.from(userId));
    const sealed = Buffer.concat([cipher.update(summary, 'utf8'), cipher.final()]);
    return MARK + Buffer.concat([nonce, cipher.getAuthTag(), sealed]).toString('base64url');
  }

  /**
   * @returns undefined for content that was not sealed by this app
   * @throws LLMInvalidRequestError for content that was altered or belongs to another user
   */
  open(userId: string, sealed: string, path: string): string | undefined {
    if (!sealed.startsWith(MARK)) return undefined;
    const bytes = Buffer.from(sealed.slice(MARK.length), 'base64url');
    for (const key of this.keys) {
      const summary = tryOpen(key, userId, bytes);
      if (summary !== undefined) return summary;
    }
    throw new LLMInvalidRequestError('The compaction item could not be decrypted.', { path });
  }
}

function tryOpen(key: Buffer, userId: string, bytes: Buffer): string | undefined {
  if (bytes.length < NONCE_BYTES + TAG_BYTES) return undefined;
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
    .setAAD(Buffer.from(userId))
    .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  try {
    return decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES), undefined, 'utf8') + decipher.final('utf8');
  } catch {
    // Another key, another user or altered content, which are indistinguishable.
    return undefined;
  }
}
