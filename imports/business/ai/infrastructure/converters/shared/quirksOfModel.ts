/** Resolves a vendor's quirks for one of its models. */
import { LRUCache } from 'lru-cache';
import type { VendorQuirks } from '../../../domain/types/VendorTypes';

const cache = new WeakMap<VendorQuirks, LRUCache<string, VendorQuirks>>();
/** Callers choose the names of models. */
const MAX_CACHED_MODELS = 1_000;

/** Returns the same object for the same model, because conversion caches compare quirks by identity. */
export function quirksOfModel(quirks: VendorQuirks, model: string): VendorQuirks {
  if (quirks.modelRules === undefined) return quirks;
  const models = cache.get(quirks) ?? new LRUCache<string, VendorQuirks>({ max: MAX_CACHED_MODELS });
  cache.set(quirks, models);
  const cached = models.get(model);
  if (cached !== undefined) return cached;
  const result = applyModelRules(quirks, model);
  models.set(model, result);
  return result;
}

function applyModelRules(quirks: VendorQuirks, model: string): VendorQuirks {
  let result = quirks;
  for (const rule of quirks.modelRules ?? []) {
    if (!new RegExp(rule.models, 'i').test(model)) continue;
    result = {
      ...result,
      ...rule.quirks,
      unsupportedFields: [...result.unsupportedFields, ...(rule.quirks.unsupportedFields ?? [])],
    };
  }
  return result;
}
