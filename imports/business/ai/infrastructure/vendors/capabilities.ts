/** What a model can do, by vendor and name, from the vendors' rows and the model rows of an account's settings. */
import { LRUCache } from 'lru-cache';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { ModelPrice } from '../../domain/types/ModelPrice';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { VendorName, WireName } from '../../domain/types/VendorTypes';
import type { ModelRow } from './ModelRow';
import type { Vendor } from './Vendor';
import { VENDOR_ROWS } from './vendors';

/**
 * The first matching row wins. Rows of `extensions` come before the vendor's own and need only state the differences.
 * @param wire the one that the account uses; default: the one on which the vendor can do most
 * @throws LLMInvalidRequestError for an extension whose pattern is not a regular expression
 */
export function capabilitiesOf(
  vendorName: VendorName,
  model: string,
  extensions: readonly ModelRow[] = [],
  wire: WireName = richestWireOf(VENDOR_ROWS[vendorName]),
): ModelCapabilities {
  const builtIn = builtInCapabilities(VENDOR_ROWS[vendorName], model, wire);
  const extension = findRow(extensions, model);
  if (extension === undefined) return builtIn;
  const { models: _, ...overrides } = extension;
  const { price } = overrides;
  return withWindow(
    { ...builtIn, ...overrides, ...omitUndefined({ price: price && { ...feesOf(builtIn), ...price } }) },
    overrides,
  );
}

/** What is charged beside tokens, or in proportion to their price, whatever an account pays for them. */
function feesOf({ price }: ModelCapabilities): Partial<ModelPrice> {
  return price === undefined ? {} : omitUndefined({ tools: price.tools, speeds: price.speeds, regions: price.regions });
}

/** Whether a model's name alone identifies the vendor that serves it. */
export function isModelOf(vendorName: VendorName, model: string): boolean {
  return VENDOR_ROWS[vendorName].modelPatterns.some((pattern) => pattern.test(model));
}

/** Whether the vendor's tables contain the model, or the rows of `extensions` do. */
export function isListedModel(vendorName: VendorName, model: string, extensions: readonly ModelRow[] = []): boolean {
  const { models, foreignModels = [] } = VENDOR_ROWS[vendorName];
  return (findRow(extensions, model) ?? findRow(models, model) ?? findRow(foreignModels, model)) !== undefined;
}

/** Limits that nearly every model accepts; for content, the vendor's own validation decides. */
const UNLISTED_MODEL: ModelCapabilities = {
  supportsTools: true,
  supportsParallelTools: true,
  supportsAsyncTools: false,
  supportsVision: true,
  supportsFiles: true,
  supportsJSON: true,
  supportsJSONSchema: true,
  supportsReasoning: false,
  keepsState: false,
  maxTokens: 32_768,
  maxOutputTokens: 4_096,
  isWindowUnknown: true,
};

/** Prefers the Responses wire of a vendor that stores responses, since its other wires store none. */
function richestWireOf({ storesResponses, wires }: Vendor): WireName {
  return storesResponses ? 'responses' : wires[0];
}

function builtInCapabilities(vendor: Vendor, model: string, wire: WireName): ModelCapabilities {
  const key = `${vendor.name} ${wire} ${model}`;
  const cached = capabilityCache.get(key);
  if (cached !== undefined) return cached;
  const capabilities = Object.freeze(deriveCapabilities(vendor, model, wire));
  capabilityCache.set(key, capabilities);
  return capabilities;
}

const MAX_CACHE_ENTRIES = 1_000;
const capabilityCache = new LRUCache<string, ModelCapabilities>({ max: MAX_CACHE_ENTRIES });

function deriveCapabilities(vendor: Vendor, model: string, wire: WireName): ModelCapabilities {
  const row = findRow(vendor.models, model) ?? foreignRow(vendor, model) ?? {};
  const { models: _, ...listed } = row;
  const isResponses = wire === 'responses';
  const capabilities: ModelCapabilities = {
    ...UNLISTED_MODEL,
    // Every model of this wire can be forced to call a tool; not every one has native structured output.
    ...(wire === 'anthropic_messages' && listed.maxTokens === undefined ? { supportsJSONSchema: false } : {}),
    ...listed,
    ...omitUndefined({ embeddingBatch: vendor.embeddingBatch }),
    ...(compacts(vendor, model, wire) ? { supportsCompaction: true } : {}),
    supportsAsyncTools: listed.supportsAsyncTools === true && isResponses,
    keepsState: (vendor.storesResponses && isResponses) || wire === 'interactions',
  };
  return withWindow(capabilities, listed);
}

function compacts({ compaction }: Vendor, model: string, wire: WireName): boolean {
  return compaction?.wire === wire && (compaction.models === undefined || compaction.models.test(model));
}

/** @param stated what is known of the model */
function withWindow(capabilities: ModelCapabilities, stated: Partial<ModelCapabilities>): ModelCapabilities {
  if (stated.maxTokens === undefined || capabilities.isWindowUnknown === undefined) return capabilities;
  const { isWindowUnknown: _, ...known } = capabilities;
  return known;
}

/** Prices and async tool calls hold only where the model's own vendor serves it. */
function foreignRow({ foreignModels = [] }: Vendor, model: string): Partial<ModelRow> | undefined {
  const row = findRow(foreignModels, model);
  if (row === undefined) return undefined;
  const { price: _, supportsAsyncTools: __, ...carriedOver } = row;
  return carriedOver;
}

function findRow(rows: readonly ModelRow[], model: string): ModelRow | undefined {
  return rows.find(({ models }) => toPattern(models).test(model));
}

function toPattern(source: string): RegExp {
  const cached = patternCache.get(source);
  if (cached !== undefined) return cached;
  const pattern = compile(source);
  patternCache.set(source, pattern);
  return pattern;
}

const patternCache = new LRUCache<string, RegExp>({ max: MAX_CACHE_ENTRIES });

function compile(source: string): RegExp {
  try {
    return new RegExp(source, 'i');
  } catch (cause) {
    throw new LLMInvalidRequestError(`"models" is not a valid regular expression: ${source.slice(0, 100)}`, {
      path: 'models',
      cause,
    });
  }
}
