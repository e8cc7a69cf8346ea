/**
 * Checks a JSON Schema as it is typed: its syntax, and the keywords that most schemas consist of. The server compiles
 * the schema before a run starts, and knows every keyword.
 */
import { isList, isObject } from '../../business/ai/domain/util/json';

const TYPES = new Set(['string', 'number', 'integer', 'boolean', 'object', 'array', 'null']);
const MAX_DEPTH = 64;

type KeywordCheck = (value: unknown, path: string, depth: number) => string | undefined;

/** @returns what is wrong and where, as a sentence; undefined for a schema without apparent faults */
export function checkSchema(text: string): string | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return `Not JSON yet: ${describeSyntaxError(error, text)}`;
  }
  if (!isObject(value)) return 'A JSON Schema is an object, such as {"type": "object", "properties": {}}.';
  return checkNode(value, '$', 0);
}

const checkNode: KeywordCheck = (node, path, depth) => {
  if (typeof node === 'boolean') return undefined;
  if (!isObject(node)) return `“${path}” must be a schema: an object, true or false.`;
  if (depth > MAX_DEPTH) return `“${path}” is nested too deeply.`;
  const { properties, required } = node;
  for (const [keyword, value] of Object.entries(node)) {
    const problem = KEYWORDS.get(keyword)?.(value, `${path}.${keyword}`, depth + 1);
    if (problem !== undefined) return problem;
  }
  if (!isList(required) || !isObject(properties)) return undefined;
  const missing = required.find((name): name is string => typeof name === 'string' && !Object.hasOwn(properties, name));
  return missing === undefined ? undefined : `“${path}.required” names “${missing}”, which is not a property.`;
};

const schemas: KeywordCheck = (value, path, depth) => {
  if (!isObject(value)) return `“${path}” must be an object of schemas.`;
  return firstProblem(Object.entries(value), ([name, node]) => checkNode(node, `${path}.${name}`, depth));
};

const schemaList: KeywordCheck = (value, path, depth) => {
  if (!isList(value) || value.length === 0) return `“${path}” must be a list of schemas.`;
  return firstProblem([...value.entries()], ([index, node]) => checkNode(node, `${path}[${index}]`, depth));
};

const names: KeywordCheck = (value, path) =>
  isList(value) && value.every((name) => typeof name === 'string') ? undefined : `“${path}” must be a list of names.`;

const count: KeywordCheck = (value, path) =>
  Number.isInteger(value) && Number(value) >= 0 ? undefined : `“${path}” must be a whole number of at least 0.`;

const number: KeywordCheck = (value, path) => (typeof value === 'number' ? undefined : `“${path}” must be a number.`);

const KEYWORDS: ReadonlyMap<string, KeywordCheck> = new Map<string, KeywordCheck>([
  [
    'type',
    (value, path) => {
      const given: readonly unknown[] = isList(value) ? value : [value];
      const unknown = given.find((each) => typeof each !== 'string' || !TYPES.has(each));
      if (given.length > 0 && unknown === undefined) return undefined;
      return `“${path}” must be one of: ${[...TYPES].join(', ')}.`;
    },
  ],
  ['properties', schemas],
  ['patternProperties', schemas],
  ['$defs', schemas],
  ['definitions', schemas],
  ['items', (value, path, depth) => (isList(value) ? schemaList(value, path, depth) : checkNode(value, path, depth))],
  ['prefixItems', schemaList],
  ['anyOf', schemaList],
  ['oneOf', schemaList],
  ['allOf', schemaList],
  ['additionalProperties', checkNode],
  ['not', checkNode],
  ['required', names],
  ['enum', (value, path) => (isList(value) && value.length > 0 ? undefined : `“${path}” must be a list of values.`)],
  ['pattern', checkPattern],
  ['minLength', count],
  ['maxLength', count],
  ['minItems', count],
  ['maxItems', count],
  ['minProperties', count],
  ['maxProperties', count],
  ['minimum', number],
  ['maximum', number],
  ['exclusiveMinimum', number],
  ['exclusiveMaximum', number],
]);

function checkPattern(value: unknown, path: string): string | undefined {
  try {
    if (typeof value === 'string' && new RegExp(value, 'u') instanceof RegExp) return undefined;
  } catch {
    // Reported below.
  }
  return `“${path}” must be a regular expression.`;
}

function firstProblem<T>(values: readonly T[], check: (value: T) => string | undefined): string | undefined {
  for (const value of values) {
    const problem = check(value);
    if (problem !== undefined) return problem;
  }
  return undefined;
}

/** Engines name the position in different ways, and some not at all. */
function describeSyntaxError(error: unknown, text: string): string {
  const message = error instanceof Error ? error.message : String(error);
  const position = /position (\d+)/.exec(message)?.[1];
  if (position === undefined) return `${message}.`;
  const before = text.slice(0, Number(position)).split('\n');
  return `line ${before.length}, column ${(before.at(-1) ?? '').length + 1}.`;
}
