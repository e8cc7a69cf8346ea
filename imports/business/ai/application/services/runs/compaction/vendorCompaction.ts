/** Has the vendor compact a history: what it is asked, and what of its response is sent in place of the history. */
import type { ModelCapabilities } from '../../../../domain/interfaces/ILLMProvider';
import type { CompactionOptions, CompactionReader, VendorCompaction } from '../../../../domain/types/Compaction';
import type { NormalizedOptions } from '../../../../domain/types/LLMTypes';
import type { Item, LLMResponse } from '../../../../domain/types/ResponsesAPITypes';
import { adoptInput, normalizeOptions, withOwnOptions } from '../../ContentNormalizer';

/** @param capabilities of a routing rule: what all of its targets can */
export function isVendorAsked(
  { strategy = 'portable', model }: CompactionOptions,
  capabilities: ModelCapabilities | undefined,
): boolean {
  if (strategy === 'portable' || capabilities?.supportsCompaction !== true) return false;
  // A model for summaries was named because it costs less.
  return strategy === 'vendor' || model === undefined;
}

/**
 * The request begins as the run's own, so that the vendor reads it from its cache. What concerns the answer is left
 * out, and so is what the vendor has stored of the conversation.
 */
export function vendorCompactionOptions(
  options: NormalizedOptions,
  input: readonly Item[],
  own: Pick<
    NormalizedOptions,
    'signal' | 'executionId' | 'origin' | 'tools' | 'findableTools' | 'promptCache' | 'compactedBy'
  >,
): NormalizedOptions {
  const { model, instructions, reasoning, providerId, route, routeTargets, wire, user, timeout, metadata, vendor } =
    options;
  const kept = {
    model,
    instructions,
    reasoning,
    providerId,
    route,
    routeTargets,
    wire,
    user,
    timeout,
    metadata,
    vendor,
  };
  const given = Object.fromEntries(Object.entries(kept).filter(([, value]) => value !== undefined));
  return withOwnOptions(normalizeOptions({ ...given, input: adoptInput(input) }), { ...own, compact: true });
}

/** @returns undefined if the response has no compaction that can stand for the history */
export function vendorCompactionIn({ status, output, vendor }: LLMResponse): VendorCompaction | undefined {
  if (status !== 'completed' || !output.some(isCompaction)) return undefined;
  return { ...readerOf({ providerId: vendor.providerId, vendor: vendor.name, wire: vendor.wire }), items: output };
}

/** The reader alone, for the options of a request. */
export function readerOf(
  reader: {
    readonly [K in keyof CompactionReader]: CompactionReader[K] | undefined;
  } & Pick<CompactionReader, 'vendor' | 'wire'>,
): CompactionReader {
  const { providerId, vendor, wire } = reader;
  return providerId === undefined ? { vendor, wire } : { providerId, vendor, wire };
}

/** Anthropic's has no content if the summary failed. */
function isCompaction(item: Item): boolean {
  if (item.type === 'compaction') return item.encrypted_content !== '';
  if (item.type !== 'vendor_item' || item.item.type !== 'compaction') return false;
  return typeof item.item.content === 'string' && item.item.content !== '';
}
