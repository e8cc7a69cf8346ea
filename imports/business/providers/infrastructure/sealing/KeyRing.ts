/** The keys that seal secrets: `id:base64,…`, of which the first seals and all open. */
import { LLMInvalidRequestError } from '../../../ai/domain/errors/LLMErrors';

export interface SealingKey {
  readonly id: string;
  readonly bytes: Buffer;
}

/** AES-256. */
export const KEY_BYTES = 32;

export class KeyRing {
  /** The key that seals. */
  readonly current: SealingKey;
  private readonly keysById: ReadonlyMap<string, SealingKey>;

  private constructor(current: SealingKey, keys: ReadonlyMap<string, SealingKey>) {
    this.current = current;
    this.keysById = keys;
  }

  /** @throws LLMInvalidRequestError that says which entry is wrong, and never repeats it */
  static parse(text: string): KeyRing {
    const entries = text.split(',').map((entry) => entry.trim());
    const keys = new Map<string, SealingKey>();
    entries.forEach((entry, index) => {
      const key = parseKey(entry, index);
      if (keys.has(key.id)) throw invalidKeys(`two keys are called '${key.id}'`);
      keys.set(key.id, key);
    });
    const [first] = keys.values();
    if (first === undefined) throw invalidKeys('there is no key');
    return new KeyRing(first, keys);
  }

  /** In order, for what else the host seals. */
  get keys(): readonly SealingKey[] {
    return [...this.keysById.values()];
  }

  find(id: string): SealingKey | undefined {
    return this.keysById.get(id);
  }
}

function parseKey(entry: string, index: number): SealingKey {
  const [, id, base64] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry) ?? [];
  if (id === undefined || base64 === undefined) throw invalidKeys(`key ${index + 1} is not written as id:base64`);
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== KEY_BYTES) throw invalidKeys(`key '${id}' has ${bytes.length} bytes, not ${KEY_BYTES}`);
  // Not enumerable, so that a key ring that is logged or serialised shows no key.
  return Object.defineProperty({ id } as SealingKey, 'bytes', { value: bytes });
}

function invalidKeys(what: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`The sealing keys are not right: ${what}.`, { path: 'AI_SECRET_KEYS' });
}
