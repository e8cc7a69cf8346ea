/** The sealing keys of a plain-Node server: those of AI_SECRET_KEYS, or a key that is created in the data directory. */
import { join } from 'node:path';
import { KeyRing } from '../../business/providers/infrastructure/sealing/KeyRing';
import { readOrCreateSecretKey, SECRET_KEY_FILE } from '../../business/providers/infrastructure/sealing/secretKeyFile';
import { valueOf } from '../settings/environment';
import type { Environment } from '../settings/environment';

/** @throws LLMInvalidRequestError that names the variable or file whose keys are invalid */
export async function readSecretKeys(env: Environment): Promise<string> {
  const given = valueOf(env, 'AI_SECRET_KEYS');
  const directory = valueOf(env, 'DATA_DIR') ?? '.data';
  const keys = given ?? (await readOrCreateSecretKey(directory));
  KeyRing.parse(keys, given === undefined ? join(directory, SECRET_KEY_FILE) : 'AI_SECRET_KEYS');
  return keys;
}
