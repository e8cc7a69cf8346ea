/**
 * Converts JSON Schemas to the OpenAPI subset of the wire's `Schema` (https://ai.google.dev/api/caching#Schema) and
 * back. Models before 2.5 require it for JSON output, and many clients still send it for parameters.
 */
import { camelCaseKeys } from './googleTypes';
import { sanitizeSchema } from './request/jsonSchema';
import type { SanitizedSchema } from './request/jsonSchema';
import { mapFields } from '../shared/mapFields';
import { fieldsOf, isObject } from '../../../domain/util/json';
import type { JsonObject, Loss } from '../../../domain/types/VendorTypes';

// ---- to OpenAPI

/** Returns the converted schema and the constraints that the subset cannot express. */
export function toOpenApiSchema(schema: JsonObject): SanitizedSchema {
  const { schema: clean, losses: lost } = sanitizeSchema(schema);
  const losses: Loss[] = [...lost];
  return { schema: convert(clean, '', losses), losses };
}

function convert(schema: JsonObject, path: string, losses: Loss[]): JsonObject {
  const out: JsonObject = {};
  const convertInner = (inner: unknown, at: string): JsonObject => convert(fieldsOf(inner), `${path}.${at}`, losses);
  for (const [keyword, value] of Object.entries(schema)) {
    switch (keyword) {
      case 'type':
        Object.assign(out, typeFields(value));
        break;
      case 'properties': {
        const properties = fieldsOf(value);
        out.properties = mapFields(properties, (inner, name) => convertInner(inner, `properties.${name}`));
        // These models generate properties in this order, or alphabetically if it is missing.
        out.propertyOrdering ??= Object.keys(properties);
        break;
      }
      case 'items':
        out.items = convertInner(value, keyword);
        break;
      case 'anyOf':
      case 'oneOf':
        if (Array.isArray(value))
          out.anyOf = value.map((inner: unknown, index) => convertInner(inner, `${keyword}[${index}]`));
        break;
      case 'enum':
        if (Array.isArray(value) && value.every((one) => typeof one === 'string')) out.enum = value;
        else
          losses.push({
            path: `${path}.enum`,
            what: 'enum',
            reason: 'The OpenAPI subset supports only strings in enumerations.',
          });
        break;
      case 'format':
        if (schema.type !== 'string' || value === 'date-time' || value === 'enum') out.format = value;
        else
          losses.push({
            path: `${path}.format`,
            what: `format ${String(value)}`,
            reason: 'For strings, the OpenAPI subset supports only date-time.',
          });
        break;
      case 'additionalProperties':
      case 'prefixItems':
        losses.push({
          path: `${path}.${keyword}`,
          what: keyword,
          reason: 'The OpenAPI subset does not support this keyword.',
        });
        break;
      default:
        out[keyword] = value;
    }
  }
  return out;
}

function typeFields(type: unknown): JsonObject {
  if (!Array.isArray(type)) return { type: String(type).toUpperCase() };
  const types = type.filter((one) => one !== 'null').map((one) => String(one).toUpperCase());
  const nullable = types.length < type.length ? { nullable: true } : {};
  if (types.length === 1) return { type: types[0], ...nullable };
  return { anyOf: types.map((one) => ({ type: one })), ...nullable };
}

// ---- from OpenAPI

/** 64-bit numbers, which may be written as strings (https://protobuf.dev/programming-guides/json/). */
const COUNT_KEYWORDS = new Set(['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties']);

/** Converts to JSON Schema: types in lower case, `nullable` as a type. */
export function fromOpenApiSchema(schema: unknown): JsonObject {
  if (!isObject(schema)) return {};
  const { type, nullable, properties, items, anyOf, propertyOrdering: _, example, ...rest } = camelCaseKeys(schema);
  const name = typeof type === 'string' && type !== 'TYPE_UNSPECIFIED' ? type.toLowerCase() : undefined;
  const out: JsonObject = {};
  if (name !== undefined) out.type = nullable === true ? [name, 'null'] : name;
  for (const key of Object.keys(rest)) out[key] = COUNT_KEYWORDS.has(key) ? Number(rest[key]) : rest[key];
  if (isObject(properties)) out.properties = mapFields(properties, fromOpenApiSchema);
  if (items !== undefined) out.items = fromOpenApiSchema(items);
  if (Array.isArray(anyOf)) out.anyOf = anyOf.map(fromOpenApiSchema);
  if (example !== undefined) out.examples = [example];
  return out;
}
