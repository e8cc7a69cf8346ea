/** A vendor that departs from its wires in nothing. Vendors' rows, then accounts' settings, override single fields. */
import type { VendorQuirks } from '../../domain/types/VendorTypes';

export const DEFAULT_QUIRKS: VendorQuirks = {
  maxTokensField: 'max_tokens',
  systemRole: 'system',
  allowsNullFinishReason: false,
  supportsStreamUsage: true,
  completionTokensExcludeReasoning: false,
  structuredOutput: 'json_schema',
  supportsStrictTools: true,
  supportsParallelToolCalls: true,
  fetchesImageUrls: true,
  unsupportedFields: [],
};
