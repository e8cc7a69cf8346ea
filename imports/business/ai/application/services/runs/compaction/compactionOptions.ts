/** Checks what a caller wishes of compaction. */
import { LLMInvalidRequestError } from '../../../../domain/errors/LLMErrors';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import { COMPACTION_STRATEGIES } from '../../../../domain/types/Compaction';
import type { CompactionOptions, CompactionSetting, RunCompaction } from '../../../../domain/types/Compaction';
import { normalizeOptions } from '../../ContentNormalizer';

export const DEFAULT_THRESHOLD = 0.8;
export const DEFAULT_COMPACTION: CompactionOptions = {};
const STRATEGIES: readonly unknown[] = COMPACTION_STRATEGIES;
const FIELDS: readonly string[] = [
  'strategy',
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
  const { strategy, window, threshold, model, pinned, from } = requested;
  if (strategy !== undefined && !STRATEGIES.includes(strategy))
    throw invalid('.strategy', `must be one of: ${STRATEGIES.join(', ')}`);
  if (window !== undefined && !isCount(window, 1)) throw invalid('.window', 'must be a positive integer of tokens');
  if (threshold !== undefined && !(typeof threshold === 'number' && threshold >= 0.1 && threshold <= 1))
    throw invalid('.threshold', 'must be a number from 0.1 to 1');
  if (model !== undefined && (typeof model !== 'string' || model === ''))
    throw invalid('.model', 'must be the name of a model');
  if (pinned !== undefined && !(Array.isArray(pinned) && pinned.every((index) => isCount(index, 0))))
    throw invalid('.pinned', 'must be an array of indexes in "input"');
  if (from !== undefined && !isCompaction(from)) throw invalid('.from', 'must be the compaction of an earlier result');
  // Each field has passed its check.
  const given = requested as CompactionOptions;
  return { ...base, ...given, ...omitUndefined({ from: given.from && withCheckedItems(given.from) }) };
}

/** The option of a run whose input begins with the transcript of an earlier one: what that has compacted stays so. */
export function continuedCompaction(
  requested: boolean | CompactionOptions | undefined,
  from: RunCompaction | undefined,
): boolean | CompactionOptions | undefined {
  if (from === undefined || requested === false) return requested;
  return { ...(typeof requested === 'object' ? requested : {}), from };
}

function isCompaction(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { count, length, summarizedUpTo, clearedUpTo, summary, vendor } = value;
  const places = [count, length, summarizedUpTo, clearedUpTo];
  const isText = summary === undefined || typeof summary === 'string';
  return places.every((place) => isCount(place, 0)) && isText && (vendor === undefined || isOfVendor(vendor));
}

function isOfVendor(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { providerId, vendor, wire, items } = value;
  const isNamed = typeof vendor === 'string' && typeof wire === 'string';
  return isNamed && (providerId === undefined || typeof providerId === 'string') && Array.isArray(items);
}

/** Checks the items of an earlier result, which may have been stored anywhere. @throws LLMInvalidRequestError */
function withCheckedItems(from: RunCompaction): RunCompaction {
  const { vendor } = from;
  if (vendor === undefined) return from;
  try {
    return { ...from, vendor: { ...vendor, items: normalizeOptions({ input: vendor.items }).input } };
  } catch (cause) {
    if (!(cause instanceof LLMInvalidRequestError)) throw cause;
    throw new LLMInvalidRequestError(`"compaction.from.vendor" is invalid: ${cause.message}`, {
      path: 'compaction.from.vendor',
      cause,
    });
  }
}

function isCount(value: unknown, least: number): boolean {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= least;
}

function invalid(path: string, message: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(`"compaction${path}" ${message}.`, { path: `compaction${path}` });
}
