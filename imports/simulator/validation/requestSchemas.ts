/** The vendors' request schemas, compiled on first use and cached. */
import Ajv2020 from 'ajv/dist/2020.js';
import type { ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { SchemaName } from '../vendorProfiles';
import { asObject, asString, isObject, objectsIn } from '../json';
import { explainViolation } from './explainViolation';
import type { Violation } from './explainViolation';

/**
 * Loaded by `require` with literal names: a Meteor bundle contains what is imported this way, but no other files, and
 * the schemas are large and mostly not needed.
 */
/* oxlint-disable typescript/no-require-imports */
const LOADERS: Readonly<Record<SchemaName, () => unknown>> = {
  'openai.responses': () => require('../schemas/openai.responses.request.schema.json') as unknown,
  'openai.chat-completions': () => require('../schemas/openai.chat-completions.request.schema.json') as unknown,
  'groq.chat-completions': () => require('../schemas/groq.chat-completions.request.schema.json') as unknown,
  'openai-compatible.chat-completions': () =>
    require('../schemas/openai-compatible.chat-completions.request.schema.json') as unknown,
  'anthropic.messages': () => require('../schemas/anthropic.messages.request.schema.json') as unknown,
  'gemini.generateContent': () => require('../schemas/gemini.generateContent.request.schema.json') as unknown,
  'gemini.interactions': () => require('../schemas/gemini.interactions.request.schema.json') as unknown,
  'vertex.generateContent': () => require('../schemas/vertex.generateContent.request.schema.json') as unknown,
};
/* oxlint-enable typescript/no-require-imports */

interface CompiledSchema {
  readonly schema: JsonObject;
  readonly validate: ValidateFunction;
  /** Every field that is allowed at the top level of the body. */
  readonly topLevelFields: ReadonlySet<string>;
}

const compiled = new Map<SchemaName, CompiledSchema>();

/** @returns undefined for a valid body */
export function findViolation(name: SchemaName, body: unknown): Violation | undefined {
  const { schema, validate } = compiledSchema(name);
  const documented = withoutUndocumented(name, body);
  if (validate(documented)) return undefined;
  const [error] = validate.errors ?? [];
  return (
    explainViolation(schema, documented) ?? {
      path: error?.instancePath.split('/').slice(1) ?? [],
      problem: 'wrong',
      expected: error?.message ?? 'is invalid',
    }
  );
}

/**
 * Fields that vendors accept although their schemas lack them. OpenAI's own Codex sends `client_metadata`; Groq's SDK
 * does not declare `stream_options`, which its API honours: https://github.com/Portkey-AI/gateway/issues/1072
 */
const UNDOCUMENTED: Partial<Record<SchemaName, ReadonlySet<string>>> = {
  'groq.chat-completions': new Set(['stream_options']),
  'openai.responses': new Set(['client_metadata']),
};

function withoutUndocumented(name: SchemaName, body: unknown): unknown {
  const fields = UNDOCUMENTED[name];
  if (fields === undefined || !isObject(body) || !Object.keys(body).some((field) => fields.has(field))) return body;
  return Object.fromEntries(Object.entries(body).filter(([field]) => !fields.has(field)));
}

export function topLevelFields(name: SchemaName): ReadonlySet<string> {
  return compiledSchema(name).topLevelFields;
}

function compiledSchema(name: SchemaName): CompiledSchema {
  const cached = compiled.get(name);
  if (cached !== undefined) return cached;
  const schema = asObject(LOADERS[name]());
  // The schemas are large and used rarely: optimizing their code would take longer than it saves, and would block the
  // event loop. A test checks that they are valid.
  const ajv = new Ajv2020({ strict: false, logger: false, validateSchema: false, code: { optimize: false } });
  addFormats(ajv);
  ajv.addFormat('uri', isURI);
  const entry = {
    schema,
    validate: ajv.compile(schema),
    topLevelFields: new Set([...collectFieldNames(schema, schema), ...(UNDOCUMENTED[name] ?? [])]),
  };
  compiled.set(name, entry);
  return entry;
}

const matchesURI = addFormats.get('uri') as (text: string) => boolean;

/**
 * The data of a data URL is checked character by character: on megabytes of it, the library's pattern overflows the
 * stack of the regular expression engine.
 */
function isURI(text: string): boolean {
  const start = text.startsWith('data:') ? text.indexOf(',') + 1 : 0;
  if (start === 0) return matchesURI(text);
  return matchesURI(text.slice(0, start)) && !/[^A-Za-z0-9\-._~!$&'()*+,;=:@/?#%]/.test(text.slice(start));
}

/** Includes the fields of every alternative of the schema's root. */
function collectFieldNames(schema: JsonObject, root: JsonObject): ReadonlySet<string> {
  const alternatives = [...objectsIn(schema.anyOf), ...objectsIn(schema.allOf), ...objectsIn(schema.oneOf)];
  const definition = asString(schema.$ref).replace('#/$defs/', '');
  const referred = definition === '' ? [] : [asObject(asObject(root.$defs)[definition])];
  return new Set([
    ...Object.keys(asObject(schema.properties)),
    ...[...alternatives, ...referred].flatMap((part) => [...collectFieldNames(part, root)]),
  ]);
}
