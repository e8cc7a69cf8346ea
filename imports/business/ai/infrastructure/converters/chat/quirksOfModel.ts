/** A host's quirks as they are for one of its models. */
import type { VendorQuirks } from '../../../domain/types/VendorTypes';

const cache = new WeakMap<VendorQuirks, Map<string, VendorQuirks>>();
const MAX_CACHED_MODELS = 1_000;

/** The same object for the same model, so that what was converted under it can be found again. */
export function quirksOfModel(quirks: VendorQuirks, model: string): VendorQuirks {
  if (quirks.modelRules === undefined) return quirks;
  const models = cache.get(quirks) ?? new Map<string, VendorQuirks>();
  cache.set(quirks, models);
  const cached = models.get(model);
  if (cached !== undefined) return cached;
  const result = applyModelRules(quirks, model);
  // Names come from callers; the map must not grow with them.
  if (models.size >= MAX_CACHED_MODELS) models.clear();
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
