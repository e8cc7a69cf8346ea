/** The keys that seal secrets, written as `id:base64,…`: the first seals, all open. */
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

  /**
   * @param setting where the text comes from, for the error
   * @throws LLMInvalidRequestError that names the invalid entry without quoting it
   */
  static parse(text: string, setting = 'AI_SECRET_KEYS'): KeyRing {
    const invalid = (problem: string): LLMInvalidRequestError =>
      new LLMInvalidRequestError(`The sealing keys in ${setting} are invalid: ${problem}.`, { path: setting });
    const entries = text.split(',').map((entry) => entry.trim());
    const keys = new Map<string, SealingKey>();
    entries.forEach((entry, index) => {
      const key = parseKey(entry, index, invalid);
      if (keys.has(key.id)) throw invalid(`two keys have the id "${key.id}"`);
      keys.set(key.id, key);
    });
    const [first] = keys.values();
    if (first === undefined) throw invalid('there is no key');
    return new KeyRing(first, keys);
  }

  /** In order. The host also seals other things with them. */
  get keys(): readonly SealingKey[] {
    return [...this.keysById.values()];
  }

  find(id: string): SealingKey | undefined {
    return this.keysById.get(id);
  }
}

function parseKey(entry: string, index: number, invalid: (problem: string) => LLMInvalidRequestError): SealingKey {
  const [, id, base64] = /^([A-Za-z0-9_-]{1,32}):([A-Za-z0-9+/_-]+={0,2})$/.exec(entry) ?? [];
  if (id === undefined || base64 === undefined) throw invalid(`key ${index + 1} does not have the form id:base64`);
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length !== KEY_BYTES) throw invalid(`key "${id}" has ${bytes.length} bytes instead of ${KEY_BYTES}`);
  // Not enumerable, so that logging or serializing a key ring reveals no key.
  return Object.defineProperty({ id } as SealingKey, 'bytes', { value: bytes });
}
