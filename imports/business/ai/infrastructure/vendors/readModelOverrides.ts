/** Reads what an operator knows better about models than the tables do: limits, capabilities and prices, by vendor. */
import { isList, isObject } from '../../domain/util/json';
import { LLMInvalidRequestError } from '../../domain/errors/LLMErrors';
import { VENDORS } from '../../domain/types/VendorTypes';
import type { JsonObject, VendorName } from '../../domain/types/VendorTypes';
import { toModelRows } from './ModelRow';
import type { ModelEntry, ModelRow } from './ModelRow';
import { MODELS_DEV_VENDORS, readModelsDev } from './modelsDev';

/** Rows that precede those of a vendor's own table, and need only state the differences. */
export type ModelOverrides = Readonly<Partial<Record<VendorName, readonly ModelRow[]>>>;

const FLAGS: ReadonlySet<string> = new Set([
  'supportsTools',
  'supportsParallelTools',
  'supportsAsyncTools',
  'supportsVision',
  'supportsFiles',
  'supportsJSON',
  'supportsJSONSchema',
  'supportsReasoning',
  'supportsCompaction',
  'makesEmbeddings',
]);
const PRICES: ReadonlySet<string> = new Set([
  'input',
  'output',
  'cached',
  'cacheWrite',
  'cacheWriteHour',
  'cacheStorage',
  'audioInput',
  'audioCached',
  'audioOutput',
  'imageInput',
  'imageCached',
  'imageOutput',
]);
const FACTORS = ['serviceTiers', 'speeds', 'regions'] as const;

/**
 * @param value entries by vendor, `{ "openai": [{ "name": "gpt-7", "maxTokens": 2000000, "price": { … } }] }`, or the
 *   list of https://models.dev/api.json, or part of it
 * @param asOf the day (`YYYY-MM-DD`) of such a list
 * @throws LLMInvalidRequestError that names the place
 */
export function readModelOverrides(value: unknown, asOf: string): ModelOverrides {
  if (!isObject(value)) throw invalid('', 'must be an object of model entries by vendor');
  return Object.fromEntries(Object.entries(value).flatMap(([vendor, given]) => readVendor(vendor, given, asOf)));
}

function readVendor(
  vendor: string,
  given: unknown,
  asOf: string,
): readonly (readonly [VendorName, readonly ModelRow[]])[] {
  if (isObject(given) && isObject(given.models)) {
    // The list has many more providers than there are vendors here.
    const ours = MODELS_DEV_VENDORS[vendor];
    if (ours === undefined) return [];
    const models = readModelsDev(given.models, ours, asOf).map(({ id: _, problem: __, ...entry }) => entry);
    return [[ours, toModelRows({ models })]];
  }
  if (!isVendor(vendor)) throw invalid(vendor, `is not a vendor. Expected one of: ${VENDORS.join(', ')}`);
  if (!isList(given)) throw invalid(vendor, 'must be a list of model entries');
  const models = given.map((entry, index) => readEntry(entry, `${vendor}[${index}]`));
  return [[vendor, toModelRows({ models })]];
}

function isVendor(name: string): name is VendorName {
  return VENDORS.some((vendor) => vendor === name);
}

function readEntry(value: unknown, path: string): ModelEntry {
  if (!isObject(value)) throw invalid(path, 'must be an object');
  const { name, models, note, maxTokens, maxOutputTokens, price, ...flags } = value;
  if ((name === undefined) === (models === undefined))
    throw invalid(path, 'must have either "name" or "models": a regular expression for the names of models');
  const entry: Record<string, unknown> = {};
  for (const [field, pattern] of Object.entries({ name, models })) {
    if (pattern === undefined) continue;
    if (typeof pattern !== 'string' || pattern === '' || !isPattern(pattern))
      throw invalid(`${path}.${field}`, 'must be a regular expression');
    entry[field] = pattern;
  }
  if (note !== undefined && typeof note !== 'string') throw invalid(`${path}.note`, 'must be a text');
  for (const [field, tokens] of Object.entries({ maxTokens, maxOutputTokens })) {
    if (tokens === undefined) continue;
    if (typeof tokens !== 'number' || !Number.isSafeInteger(tokens) || tokens < 1)
      throw invalid(`${path}.${field}`, 'must be a positive whole number of tokens');
    entry[field] = tokens;
  }
  for (const [field, flag] of Object.entries(flags)) {
    if (!FLAGS.has(field)) throw invalid(`${path}.${field}`, `is unknown. Expected one of: ${fieldNames().join(', ')}`);
    if (typeof flag !== 'boolean') throw invalid(`${path}.${field}`, 'must be true or false');
    entry[field] = flag;
  }
  if (price !== undefined) entry.price = readPrice(price, `${path}.price`);
  return entry;
}

function fieldNames(): readonly string[] {
  return ['name', 'models', 'note', 'maxTokens', 'maxOutputTokens', 'price', ...FLAGS];
}

function readPrice(value: unknown, path: string): JsonObject {
  if (!isObject(value)) throw invalid(path, 'must be an object');
  const { asOf, longPrompt, serviceTiers: _, speeds: __, regions: ___, tools, ...prices } = value;
  expectDay(asOf, path);
  readTokenPrices(prices, path);
  if (longPrompt !== undefined) {
    if (!isObject(longPrompt)) throw invalid(`${path}.longPrompt`, 'must be an object');
    const { above, ...others } = longPrompt;
    if (typeof above !== 'number' || !(above > 0))
      throw invalid(`${path}.longPrompt.above`, 'must be a positive number of tokens');
    readTokenPrices(others, `${path}.longPrompt`);
  }
  for (const field of FACTORS) {
    const factors = value[field];
    if (factors === undefined) continue;
    if (!isObject(factors)) throw invalid(`${path}.${field}`, 'must be an object of factors by name');
    for (const [name, factor] of Object.entries(factors)) expectAmount(factor, `${path}.${field}.${name}`);
  }
  if (tools !== undefined) {
    if (!isObject(tools)) throw invalid(`${path}.tools`, 'must be an object of prices by the name of the tool');
    for (const [tool, toolPrice] of Object.entries(tools)) readToolPrice(toolPrice, `${path}.tools.${tool}`);
  }
  return value;
}

function readToolPrice(value: unknown, path: string): void {
  if (!isObject(value)) throw invalid(path, 'must be an object');
  const { asOf, source, unpriced, ...prices } = value;
  expectDay(asOf, path);
  for (const [field, text] of Object.entries({ source, unpriced })) {
    if (text !== undefined && typeof text !== 'string') throw invalid(`${path}.${field}`, 'must be a text');
  }
  for (const [field, dollars] of Object.entries(prices)) {
    if (!TOOL_PRICES.has(field))
      throw invalid(`${path}.${field}`, `is unknown. Expected one of: ${[...TOOL_PRICES].join(', ')}`);
    expectAmount(dollars, `${path}.${field}`);
  }
}

const TOOL_PRICES: ReadonlySet<string> = new Set(['perUse', 'perRequest']);

function expectDay(value: unknown, path: string): void {
  if (typeof value !== 'string' || !/^\d{4}-\d{2}-\d{2}$/.test(value))
    throw invalid(`${path}.asOf`, 'must be the day on which the price was looked up, as in "2026-05-31"');
}

function readTokenPrices(prices: JsonObject, path: string): void {
  for (const field of ['input', 'output']) {
    if (prices[field] === undefined) throw invalid(`${path}.${field}`, 'is missing: US dollars per million tokens');
  }
  for (const [field, dollars] of Object.entries(prices)) {
    if (!PRICES.has(field)) throw invalid(`${path}.${field}`, `is unknown. Expected one of: ${[...PRICES].join(', ')}`);
    expectAmount(dollars, `${path}.${field}`);
  }
}

function expectAmount(value: unknown, path: string): void {
  if (typeof value !== 'number' || !Number.isFinite(value) || value < 0)
    throw invalid(path, 'must be a number that is not negative');
}

function isPattern(source: string): boolean {
  try {
    return new RegExp(source, 'i').source !== '';
  } catch {
    return false;
  }
}

function invalid(path: string, problem: string): LLMInvalidRequestError {
  return new LLMInvalidRequestError(path === '' ? `Models ${problem}.` : `"${path}" ${problem}.`, { path });
}
