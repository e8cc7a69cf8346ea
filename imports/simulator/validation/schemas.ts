/** The request schemas, compiled when first asked for and kept. */
import { readFileSync } from 'node:fs';
import path from 'node:path';
import Ajv2020 from 'ajv/dist/2020';
import type { ValidateFunction } from 'ajv/dist/2020';
import addFormats from 'ajv-formats';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';
import type { SchemaName } from '../hosts';
import { asObject, asString, objectsIn, parseJson } from '../json';
import { explainViolation } from './explainViolation';
import type { Violation } from './explainViolation';

const SCHEMAS_ROOT = path.join(__dirname, '../schemas');

interface CompiledSchema {
  readonly schema: JsonObject;
  readonly validate: ValidateFunction;
  /** Every field that the body may have. */
  readonly topLevelNames: ReadonlySet<string>;
}

const compiled = new Map<SchemaName, CompiledSchema>();

/** What is wrong with a body, or undefined. */
export function violationOf(name: SchemaName, body: unknown): Violation | undefined {
  const { schema, validate } = compiledSchema(name);
  if (validate(body)) return undefined;
  const [error] = validate.errors ?? [];
  return (
    explainViolation(schema, body) ?? {
      place: error?.instancePath.split('/').slice(1) ?? [],
      problem: 'wrong',
      expected: error?.message ?? 'is invalid',
    }
  );
}

export function topLevelNames(name: SchemaName): ReadonlySet<string> {
  return compiledSchema(name).topLevelNames;
}

function compiledSchema(name: SchemaName): CompiledSchema {
  const known = compiled.get(name);
  if (known !== undefined) return known;
  const schema = asObject(parseJson(readFileSync(path.join(SCHEMAS_ROOT, `${name}.request.schema.json`), 'utf8')));
  // Vendors' schemas are large and a process asks them seldom: making tidy code of them takes longer than it saves,
  // and all others wait.
  const ajv = new Ajv2020({ strict: false, logger: false, code: { optimize: false } });
  addFormats(ajv);
  const made = { schema, validate: ajv.compile(schema), topLevelNames: namesOf(schema, schema) };
  compiled.set(name, made);
  return made;
}

/** The names of all alternatives of the schema's root. */
function namesOf(schema: JsonObject, root: JsonObject): ReadonlySet<string> {
  const alternatives = [...objectsIn(schema.anyOf), ...objectsIn(schema.allOf), ...objectsIn(schema.oneOf)];
  const definition = asString(schema.$ref).replace('#/$defs/', '');
  const referred = definition === '' ? [] : [asObject(asObject(root.$defs)[definition])];
  return new Set([
    ...Object.keys(asObject(schema.properties)),
    ...[...alternatives, ...referred].flatMap((part) => [...namesOf(part, root)]),
  ]);
}
