/** Checks what a caller wishes of compaction. */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/json';
import type { CompactionOptions, CompactionSetting } from '../../../../domain/types/Compaction';

export const DEFAULT_THRESHOLD = 0.8;
export const DEFAULT_COMPACTION: CompactionOptions = {};
const FIELDS: readonly string[] = [
  'window',
  'threshold',
  'model',
  'pinned',
  'from',
] satisfies (keyof CompactionOptions)[];

/**
 * @param requested `true` and undefined stand for the defaults
 * @throws LLMInvalidRequestError
 */
export function compactionOf(requested: unknown, defaults: CompactionSetting = DEFAULT_COMPACTION): CompactionSetting {
  if (requested === undefined) return defaults;
  if (requested === false) return false;
  const base = defaults === false ? DEFAULT_COMPACTION : defaults;
  if (requested === true) return base;
  if (!isObject(requested)) throw invalid('', 'must be true, false or an object');
  for (const name of Object.keys(requested))
    if (!FIELDS.includes(name)) throw invalid(`.${name}`, `is no option. Expected one of: ${FIELDS.join(', ')}`);
  const { window, threshold, model, pinned, from } = requested;
  if (window !== undefined && !isCount(window, 1)) throw invalid('.window', 'must be a positive integer of tokens');
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold >= 0.1 && threshold <= 1))
    throw invalid('.threshold', 'must be a number from 0.1 to 1');
  if (model !== undefined && (typeof model !== 'string' || model === ''))
    throw invalid('.model', 'must be the name of a model');
  if (pinned !== undefined && !(Array.isArray(pinned) && pinned.every((index) => isCount(index, 0))))
    throw invalid('.pinned', 'must be an array of indexes in "input"');
  if (from !== undefined && !isCompaction(from)) throw invalid('.from', 'must be the compaction of an earlier result');
  // Each field has passed its check.
  return { ...base, ...(requested as CompactionOptions) };
}

function isCompaction(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { count, length, summarizedUpTo, clearedUpTo, summary } = value;
  const places = [count, length, summarizedUpTo, clearedUpTo];
  return places.every((place) => isCount(place, 0)) && (summary === undefined || typeof summary === 'string');
}

function isCount(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}

function invalid(path: string, message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"compaction${path}" ${message}.`, { path: `compaction${path}` });
}
