/** A host's quirks as they are for one of its models. */
import type { VendorQuirks } from '../../../domain/types/VendorTypes';

const resolved = new WeakMap<VendorQuirks, Map<string, VendorQuirks>>();
const MOST_MODELS = 1_000;

/** The same object for the same model, so that what was converted under it can be found again. */
export function quirksOf(quirks: VendorQuirks, model: string): VendorQuirks {
  if (quirks.modelRules === undefined) return quirks;
  const models = resolved.get(quirks) ?? new Map<string, VendorQuirks>();
  resolved.set(quirks, models);
  const known = models.get(model);
  if (known !== undefined) return known;
  const found = resolve(quirks, model);
  // Names come from callers; the map must not grow with them.
  if (models.size >= MOST_MODELS) models.clear();
  models.set(model, found);
  return found;
}

function resolve(quirks: VendorQuirks, model: string): VendorQuirks {
  let own = quirks;
  for (const rule of quirks.modelRules ?? []) {
    if (!new RegExp(rule.models, 'i').test(model)) continue;
    own = {
      ...own,
      ...rule.quirks,
      unsupportedFields: [...own.unsupportedFields, ...(rule.quirks.unsupportedFields ?? [])],
    };
  }
  return own;
}
