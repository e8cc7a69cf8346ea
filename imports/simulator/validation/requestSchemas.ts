/** The vendors' request schemas, compiled on first use and cached. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import type { ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { SchemaName } from '../vendorProfiles';
import { asObject, asString, objectsIn, parseJson } from '../json';
import { explainViolation } from './explainViolation';
import type { Violation } from './explainViolation';

const SCHEMAS_ROOT = path.join(__dirname, '../schemas');

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
  if (validate(body)) return undefined;
  const [error] = validate.errors ?? [];
  return (
    explainViolation(schema, body) ?? {
      path: error?.instancePath.split('/').slice(1) ?? [],
      problem: 'wrong',
      expected: error?.message ?? 'is invalid',
    }
  );
}

export function topLevelFields(name: SchemaName): ReadonlySet<string> {
  return compiledSchema(name).topLevelFields;
}

function compiledSchema(name: SchemaName): CompiledSchema {
  const cached = compiled.get(name);
  if (cached !== undefined) return cached;
  const schema = asObject(parseJson(readFileSync(path.join(SCHEMAS_ROOT, `${name}.request.schema.json`), 'utf8')));
  // The schemas are large and used rarely: optimizing their code would take longer than it saves, and would block the
  // event loop.
  const ajv = new Ajv2020({ strict: false, logger: false, code: { optimize: false } });
  addFormats(ajv);
  const entry = { schema, validate: ajv.compile(schema), topLevelFields: collectFieldNames(schema, schema) };
  compiled.set(name, entry);
  return entry;
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
