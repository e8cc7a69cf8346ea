/** Checks the scalar options of a request. Each error states what is expected. */
import { checkRecordOfRecords, freeze, optionalText, otherFields, record } from './fields';
import { MAX_TIMEOUT } from './normalizeTool';
import { describe, formatStep, isList, invalid } from './PlainReader';
import type { Plain } from './PlainReader';
import { isBareSchema } from '../../../domain/util/json';
import { SCHEME_OF_WIRE } from '../../../domain/types/VendorTypes';
import type { RunTurn } from '../../../domain/entities/BudgetAccount';
import { MAX_CACHE_TTL_MS } from '../../../domain/entities/cacheLimits';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type {
  CacheOptions,
  GenerateOptions,
  NormalizedOptions,
  PromptReference,
  ResponseFormat,
} from '../../../domain/types/LLMTypes';
import type { WireName } from '../../../domain/types/VendorTypes';

export function modelName(value: Plain, path: string): string {
  if (!isModelName(value)) {
    throw invalid(path, 'must be the name of a model: 1 to 256 characters without spaces and control characters');
  }
  return value;
}

export function isModelName(value: Plain): value is string {
  return typeof value === 'string' && /^[^\s\p{C}]{1,256}$/u.test(value);
}

export function text(value: Plain, path: string): string {
  if (typeof value !== 'string') throw invalid(path, `must be a string, not ${describe(value)}`);
  return value;
}

export function name(value: Plain, path: string): string {
  if (text(value, path) === '') throw invalid(path, 'must not be empty, and can be omitted instead');
  return text(value, path);
}

export function flag(value: Plain, path: string): boolean {
  if (typeof value !== 'boolean') throw invalid(path, `must be true or false, not ${describe(value)}`);
  return value;
}

export function temperature(value: Plain, path: string): number {
  return between(value, 0, 2, path);
}

export function topP(value: Plain, path: string): number {
  return between(value, 0, 1, path);
}

export function topK(value: Plain, path: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
    throw invalid(path, 'must be a positive integer');
  return value;
}

export function penalty(value: Plain, path: string): number {
  return between(value, -2, 2, path);
}

export function integer(value: Plain, path: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value)) throw invalid(path, 'must be an integer');
  return value;
}

function between(value: Plain, least: number, most: number, path: string): number {
  if (typeof value !== 'number' || value < least || value > most)
    throw invalid(path, `must be a number from ${least} to ${most}`);
  return value;
}

export function tokenCount(value: Plain, path: string): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1)
    throw invalid(path, 'must be a positive integer of tokens');
  return value;
}

export function milliseconds(value: Plain, path: string): number {
  if (typeof value !== 'number' || value <= 0 || value > MAX_TIMEOUT)
    throw invalid(path, `must be a number of milliseconds above 0, at most ${MAX_TIMEOUT}`);
  return value;
}

/** One stop sequence or several. An empty list is omitted. */
export function stopSequences(value: Plain, path: string): readonly string[] | undefined {
  if (typeof value === 'string') return freeze([name(value, path)]);
  if (!isList(value)) throw invalid(path, `must be a string or an array of strings, not ${describe(value)}`);
  return value.length === 0 ? undefined : freeze(value.map((entry, index) => name(entry, `${path}[${index}]`)));
}

export function metadata(value: Plain, path: string): Readonly<Record<string, string>> {
  return freeze(
    Object.fromEntries(
      Object.entries(record(value, path)).map(([key, entry]) => [key, text(entry, path + formatStep(key))]),
    ),
  );
}

export function reasoning(value: Plain, path: string): NonNullable<GenerateOptions['reasoning']> {
  const fields = record(value, path);
  for (const key of ['effort', 'summary']) {
    if (optionalText(fields, key, path) === '')
      throw invalid(`${path}.${key}`, 'must not be empty, and can be omitted instead');
  }
  return fields;
}

export function vendorFields(value: Plain, path: string): NonNullable<NormalizedOptions['vendor']> {
  return checkRecordOfRecords(value, path);
}

export function wireName(value: Plain, path: string): WireName {
  const wire = WIRES.find((name) => name === value);
  if (wire === undefined) throw invalid(path, `must be one of: ${WIRES.join(', ')}`);
  return wire;
}

export function unsupportedTools(value: Plain, path: string): NonNullable<GenerateOptions['unsupportedTools']> {
  if (value !== 'refuse' && value !== 'drop') throw invalid(path, 'must be "refuse" or "drop"');
  return value;
}

export function runTurn(value: Plain, path: string): RunTurn {
  const { executionId, iteration } = record(value, path);
  if (typeof iteration !== 'number' || !Number.isSafeInteger(iteration) || iteration < 1)
    throw invalid(`${path}.iteration`, 'must be a positive integer');
  if (executionId === undefined) throw invalid(`${path}.executionId`, 'is required');
  return freeze({ executionId: name(executionId, `${path}.executionId`), iteration });
}

export function cacheOptions(value: Plain, path: string): CacheOptions {
  const { ttl, refresh } = record(value, path);
  if (typeof ttl !== 'number' || !(ttl > 0 && ttl <= MAX_CACHE_TTL_MS))
    throw invalid(`${path}.ttl`, `must be a number of milliseconds above 0, at most ${MAX_CACHE_TTL_MS} (30 days)`);
  return freeze(omitUndefined({ ttl, refresh: refresh === undefined ? undefined : flag(refresh, `${path}.refresh`) }));
}

const MAX_BREAKPOINTS = 4;
const LIFETIMES = ['5m', '30m', '1h', '12h'] as const;

export function promptCache(value: Plain, path: string): NonNullable<GenerateOptions['promptCache']> {
  if (value === false || value === 'auto') return value;
  const { breakpoints, key, ttl } = record(value, path);
  const lifetime = LIFETIMES.find((each) => each === ttl);
  if (ttl !== lifetime) throw invalid(`${path}.ttl`, `must be one of ${LIFETIMES.join(', ')}`);
  if (breakpoints !== undefined && !isBreakpoints(breakpoints))
    throw invalid(`${path}.breakpoints`, `must be an array of at most ${MAX_BREAKPOINTS} indexes in "input"`);
  return freeze({
    ...omitUndefined({
      breakpoints: breakpoints && freeze([...breakpoints]),
      key: key === undefined ? undefined : name(key, `${path}.key`),
      ttl: lifetime,
    }),
  });
}

function isBreakpoints(value: Plain): value is readonly number[] {
  return (
    isList(value) &&
    value.length <= MAX_BREAKPOINTS &&
    value.every((index) => typeof index === 'number' && Number.isSafeInteger(index) && index >= 0)
  );
}

const WIRES = Object.keys(SCHEME_OF_WIRE) as readonly WireName[];

export function responseFormat(value: Plain, path: string): ResponseFormat {
  const format = record(value, path);
  switch (format.type) {
    case 'text':
    case 'json_object':
      return freeze({ type: format.type });
    case 'json_schema': {
      // Chat Completions nest the schema's fields one level deeper.
      const nested = format.json_schema !== undefined;
      const at = nested ? `${path}.json_schema` : path;
      const given = nested ? record(format.json_schema, at) : format;
      const fields = nested && isBareSchema(given) ? { schema: given } : given;
      const { name: label, description, strict, schema } = fields;
      if (label !== undefined && (typeof label !== 'string' || !/^[a-zA-Z0-9_-]{1,64}$/.test(label))) {
        throw invalid(`${at}.name`, 'must be 1 to 64 letters, digits, "_" or "-"');
      }
      return freeze({
        ...otherFields(fields, ['type', 'json_schema', 'name', 'description', 'strict', 'schema'], at),
        type: 'json_schema',
        schema: record(schema, `${at}.schema`),
        ...omitUndefined({
          name: label,
          description: description === undefined ? undefined : text(description, `${at}.description`),
          strict: strict === undefined ? undefined : strict === null ? null : flag(strict, `${at}.strict`),
        }),
      });
    }
    default:
      throw invalid(`${path}.type`, 'must be one of: text, json_object, json_schema');
  }
}

export function promptReference(value: Plain, path: string): PromptReference {
  const fields = record(value, path);
  for (const key of Object.keys(fields))
    if (!PROMPT_FIELDS.includes(key))
      throw invalid(path + formatStep(key), `is unknown; expected one of: ${PROMPT_FIELDS.join(', ')}`);
  const { name: prompt, version, shared, variables } = fields;
  if (typeof prompt !== 'string' || prompt === '') throw invalid(`${path}.name`, 'must be the name of a saved prompt');
  if (version !== undefined && !(Number.isSafeInteger(version) && Number(version) > 0))
    throw invalid(`${path}.version`, 'must be a positive integer');
  return freeze(
    omitUndefined({
      name: prompt,
      label: optionalText(fields, 'label', path),
      version: version as number | undefined,
      variables: variables === undefined ? undefined : metadata(variables, `${path}.variables`),
      shared: shared === undefined ? undefined : flag(shared, `${path}.shared`),
    }),
  );
}

const PROMPT_FIELDS: readonly string[] = ['name', 'label', 'version', 'variables', 'shared'];
