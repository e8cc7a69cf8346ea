/** Compiles JSON Schemas, each once and in its own draft, and reports where an invalid one is wrong. */
import { LRUCache } from 'lru-cache';
import type { Ajv, ErrorObject, Options } from 'ajv';
import type { Ajv2020 } from 'ajv/dist/2020.js';
import { isObject } from '../../../domain/util/json';
import type { JsonObject } from '../../../domain/types/VendorTypes';
import { ajvClasses } from './ajvClasses';
import { BrokenSchemaError } from './BrokenSchemaError';
import { complexityOf } from './schemaComplexity';
import type { SchemaRisk } from './schemaComplexity';
import { violationOf } from './SchemaViolations';

/** Errors of one validation; empty for a valid value. */
export type Check = (value: unknown) => readonly ErrorObject[];

export interface CompiledSchema {
  readonly risk: SchemaRisk;
  /** All errors. */
  readonly all: Check;
  /** Only the first error, for values whose errors could exhaust the memory. Compiled on first use. */
  readonly first: Check;
}

export const SCHEMA_LIMITS = {
  depth: 64,
  nodes: 5_000,
  characters: 512 * 1024,
  pattern: 2_000,
  /**
   * Longer text is not checked for a `format`. The patterns of formats overflow the stack of the regular expression
   * engine on data URLs and Base64 of several megabytes.
   */
  formatted: 1_000_000,
  cached: 256,
} as const;

type Draft = '2020-12' | 'draft-07';
type AnyAjv = Ajv | Ajv2020;

const byObject = new WeakMap<JsonObject, CompiledSchema>();
const byText = new LRUCache<string, CompiledSchema>({ max: SCHEMA_LIMITS.cached });
const metaSchemas = new Map<Draft, AnyAjv>();

/**
 * The compiled schema, cached by object and by text: a schema must not be changed after its first use.
 * @throws BrokenSchemaError for a schema that is invalid, too large, or refers to another document; `path` names
 *   the place
 */
export function compileSchema(schema: JsonObject): CompiledSchema {
  const known = byObject.get(schema);
  if (known !== undefined) return known;
  const compiled = compileSchemaText(textOfSchema(schema));
  byObject.set(schema, compiled);
  return compiled;
}

/** @param text as `textOfSchema` writes it @throws BrokenSchemaError as `compileSchema` does */
export function compileSchemaText(text: string): CompiledSchema {
  const compiled = byText.get(text) ?? compile(JSON.parse(text) as JsonObject);
  byText.set(text, compiled);
  return compiled;
}

/**
 * Reads no keyword but `$async`, so it is safe on the event loop.
 * @throws BrokenSchemaError for a schema that is too large or too deep, or not JSON
 */
export function textOfSchema(schema: JsonObject): string {
  assertBounded(schema);
  const text = jsonOf(schema);
  if (text.length > SCHEMA_LIMITS.characters) {
    throw new BrokenSchemaError('$', `it has ${text.length} characters, more than ${SCHEMA_LIMITS.characters}`);
  }
  return text;
}

function jsonOf(schema: JsonObject): string {
  try {
    return JSON.stringify(schema);
  } catch (error) {
    throw new BrokenSchemaError('$', 'it is not JSON', error);
  }
}

/** Checks depth and size first: a cycle or a huge schema must not reach the recursive code. */
function assertBounded(schema: unknown): void {
  if (!isObject(schema)) throw new BrokenSchemaError('$', 'it must be an object');
  const open: { node: object; path: string; depth: number }[] = [{ node: schema, path: '$', depth: 0 }];
  let nodes = 0;
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    if (next.depth > SCHEMA_LIMITS.depth)
      throw new BrokenSchemaError(next.path, `it is nested deeper than ${SCHEMA_LIMITS.depth} levels`);
    const isArray = Array.isArray(next.node);
    for (const [key, value] of Object.entries(next.node) as [string, unknown][]) {
      nodes += 1;
      if (nodes > SCHEMA_LIMITS.nodes)
        throw new BrokenSchemaError('$', `it has more than ${SCHEMA_LIMITS.nodes} nodes`);
      const path = isArray ? `${next.path}[${key}]` : `${next.path}.${key}`;
      if (key === '$async' && value === true)
        throw new BrokenSchemaError(path, 'asynchronous schemas are not supported');
      if (typeof value === 'object' && value !== null) open.push({ node: value, path, depth: next.depth + 1 });
    }
  }
}

function compile(schema: JsonObject): CompiledSchema {
  const { $schema, ...body } = schema;
  const drafts: readonly Draft[] =
    typeof $schema === 'string' && /draft-0[67]/.test($schema) ? ['draft-07'] : ['2020-12', 'draft-07'];
  let failure: BrokenSchemaError | undefined;
  for (const draft of drafts) {
    try {
      const all = checkIn(draft, body, true);
      let first: Check | undefined;
      return {
        risk: complexityOf(body),
        all,
        get first() {
          first ??= firstFinding(draft, body, all);
          return first;
        },
      };
    } catch (error) {
      if (!(error instanceof BrokenSchemaError)) throw error;
      failure ??= error;
    }
  }
  throw failure ?? new BrokenSchemaError('$', 'no supported draft accepts it');
}

/** Stopping at the first error nests the generated code. Schemas too wide for that are always checked in full. */
function firstFinding(draft: Draft, schema: JsonObject, all: Check): Check {
  try {
    return checkIn(draft, schema, false);
  } catch (error) {
    if (error instanceof BrokenSchemaError) return all;
    throw error;
  }
}

function checkIn(draft: Draft, schema: JsonObject, allErrors: boolean): Check {
  const meta = metaSchemaOf(draft);
  if (meta.validateSchema(schema) !== true) {
    const [error] = meta.errors ?? [];
    if (error === undefined) throw new BrokenSchemaError('$', 'it violates its meta-schema');
    const violation = violationOf(error, schema);
    throw new BrokenSchemaError(violation.path, `it ${violation.message}`);
  }
  try {
    // One validator per schema, so that ids never collide and nothing outlives the schema's cache entry.
    const validate = newAjv(draft, { allErrors, meta: false, validateSchema: false }).compile(schema);
    return (value) => (validate(value) ? [] : (validate.errors ?? []));
  } catch (error) {
    throw new BrokenSchemaError(badPatternIn(schema, '$') ?? '$', reasonOf(error), error);
  }
}

function metaSchemaOf(draft: Draft): AnyAjv {
  let meta = metaSchemas.get(draft);
  if (meta === undefined) {
    meta = newAjv(draft, {});
    metaSchemas.set(draft, meta);
  }
  return meta;
}

function newAjv(draft: Draft, options: Options): AnyAjv {
  const settings: Options = {
    strict: false,
    logger: false,
    verbose: true,
    ownProperties: true,
    ...options,
    code: { regExp: patternEngine, optimize: false },
  };
  const { Ajv, Ajv2020, addFormats } = ajvClasses();
  const ajv = draft === '2020-12' ? new Ajv2020(settings) : new Ajv(settings);
  addFormats(ajv);
  for (const [name, format] of Object.entries(ajv.formats)) {
    const matches = format instanceof RegExp ? (text: string) => format.test(text) : format;
    if (typeof matches === 'function')
      ajv.addFormat(name, (text: string) => text.length > SCHEMA_LIMITS.formatted || matches(text));
  }
  return ajv;
}

/**
 * Many schemas are written without the `u` flag in mind, under which `\-` is an error. Such patterns are compiled
 * without it.
 */
function patternEngine(pattern: string): RegExp {
  if (pattern.length > SCHEMA_LIMITS.pattern)
    throw new Error(`a pattern has ${pattern.length} characters, more than ${SCHEMA_LIMITS.pattern}`);
  try {
    return new RegExp(pattern, 'u');
  } catch {
    return new RegExp(pattern);
  }
}
patternEngine.code = 'new RegExp';

/** The compiler does not report which pattern is invalid. */
function badPatternIn(node: unknown, path: string): string | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  for (const [key, value] of Object.entries(node) as [string, unknown][]) {
    const place = Array.isArray(node) ? `${path}[${key}]` : `${path}.${key}`;
    if (key === 'pattern' && typeof value === 'string' && !isPattern(value)) return place;
    const bad = badPatternIn(value, place);
    if (bad !== undefined) return bad;
  }
  return undefined;
}

function isPattern(text: string): boolean {
  try {
    patternEngine(text);
    return true;
  } catch {
    return false;
  }
}

function reasonOf(error: unknown): string {
  if (error instanceof RangeError) return 'it is too large to compile';
  const reason = error instanceof Error ? error.message : String(error);
  return /can't resolve reference/.test(reason) ? `${reason}; only references inside the schema are followed` : reason;
}
