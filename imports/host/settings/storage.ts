/** Settings of storage: how much of what requests and responses hold is stored. */
import { omitUndefined } from '../../business/ai/domain/omitUndefined';
import type { StorageBounds } from '../../database/bounds/StorageBounds';
import { SettingProblems } from './SettingProblems';

const MEGABYTE = 1_024 ** 2;

/**
 * STORAGE_MB_PER_USER and STORAGE_MB. Their defaults depend on the database.
 * @param valueOf returns the setting or variable with that name
 * @throws LLMInvalidRequestError that names every invalid variable
 */
export function readStorageBounds(valueOf: (name: string) => string | undefined): Partial<StorageBounds> {
  const problems = new SettingProblems();
  const read = (name: string): number | undefined => {
    const text = valueOf(name);
    if (text === undefined) return undefined;
    const megabytes = Number(text);
    if (megabytes > 0 && Number.isFinite(megabytes)) return Math.floor(megabytes * MEGABYTE);
    problems.add(name, `${name} must be a number of megabytes above 0.`);
    return undefined;
  };
  const perUser = read('STORAGE_MB_PER_USER');
  const total = read('STORAGE_MB');
  problems.throwIfAny();
  return omitUndefined({ perUser, total });
}
