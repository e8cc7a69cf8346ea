/** Converts ajv's errors to sentences with a JSON path, for people and models. */
import type { ErrorObject } from 'ajv';

export interface Violation {
  /** Where in the value, e.g. `$.items[2].price`; `$` is the value itself. */
  readonly path: string;
  readonly message: string;
}

const LONGEST_LIST = 300;
const LONGEST_NAME = 200;

/** @param value the validated value, to describe what is there instead */
export function violationOf(error: ErrorObject, value: unknown): Violation {
  const path = jsonPath(error.instancePath, value);
  const params = error.params as Readonly<Record<string, unknown>>;
  switch (error.keyword) {
    case 'required':
    case 'dependentRequired':
      return { path: path + pathStep(String(params.missingProperty)), message: 'is missing' };
    case 'additionalProperties':
      return {
        path: path + pathStep(String(params.additionalProperty)),
        message: `is not allowed here${knownProperties(error.parentSchema)}`,
      };
    case 'unevaluatedProperties':
      return { path: path + pathStep(String(params.unevaluatedProperty)), message: 'is not allowed here' };
    case 'type':
      return { path, message: `must be ${typesOf(params.type)}, not ${kindOf(error.data)}` };
    case 'enum':
      return { path, message: `must be one of ${listed(params.allowedValues)}` };
    case 'const':
      return { path, message: `must be ${shown(params.allowedValue)}` };
    case 'false schema':
      return { path, message: 'is not allowed here' };
    default:
      return { path, message: error.message ?? `violates "${error.keyword}"` };
  }
}

/** Converts a JSON pointer to a JSON path. Digits are an index only within an array. */
export function jsonPath(pointer: string, value: unknown): string {
  let path = '$';
  let place: unknown = value;
  for (const part of pointer.split('/').slice(1)) {
    const key = part.replaceAll('~1', '/').replaceAll('~0', '~');
    path += pathStep(Array.isArray(place) ? Number(key) : key);
    place = typeof place === 'object' && place !== null ? (place as Readonly<Record<string, unknown>>)[key] : undefined;
  }
  return path;
}

/** One step of a JSON path; numbers are indexes. A long name is cut. */
export function pathStep(key: PropertyKey): string {
  if (typeof key === 'number') return `[${key}]`;
  if (typeof key === 'symbol') return `[${String(key)}]`;
  if (key.length > LONGEST_NAME) return `[${JSON.stringify(`${key.slice(0, LONGEST_NAME)}…`)}]`;
  return /^[A-Za-z_$][\w$]*$/.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;
}

function knownProperties(schema: unknown): string {
  const properties =
    typeof schema === 'object' && schema !== null && 'properties' in schema ? schema.properties : undefined;
  if (typeof properties !== 'object' || properties === null) return '';
  return `; the known properties are ${listed(Object.keys(properties))}`;
}

function typesOf(type: unknown): string {
  const names = Array.isArray(type) ? type.map(String) : String(type).split(',');
  return names.map(withArticle).join(' or ');
}

function withArticle(word: string): string {
  if (word === 'null') return 'null';
  return `${/^[aeio]/.test(word) ? 'an' : 'a'} ${word}`;
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  if (Array.isArray(value)) return 'an array';
  return value === undefined ? 'undefined' : withArticle(typeof value);
}

function listed(values: unknown): string {
  const text = Array.isArray(values) ? values.map(shown).join(', ') : String(values);
  return text.length <= LONGEST_LIST ? text : `${text.slice(0, LONGEST_LIST)}…`;
}

function shown(value: unknown): string {
  const text = JSON.stringify(value) as string | undefined;
  if (text === undefined) return String(value);
  return text.length <= LONGEST_LIST ? text : `${text.slice(0, LONGEST_LIST)}…`;
}
