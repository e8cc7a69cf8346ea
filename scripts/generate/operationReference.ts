/** The reference of operations, from their definitions. */
import { describeSchema } from '../../imports/host/describeSchema';
import { routesOf } from '../../imports/host/defineOperation';
import type { AnyOperation } from '../../imports/host/defineOperation';
import { fieldsOf, isList, isObject } from '../../imports/business/ai/domain/util/json';
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

const HEAD = `# Operations

What people read and do, in the same way for every client: a Meteor method of this name takes the argument as its only
one, and the HTTP route takes it in the path, and in the query or the JSON body. A \`?\` follows the name of a field that
may be left out. Each requires that somebody is signed in; the scope is what an API token needs, and \`admin\` is for
administrators alone. Errors are those of [errors](errors.md).

This page is written by \`npm run generate\`.
`;

export function operationReference(operations: readonly AnyOperation[]): string {
  const areas = Map.groupBy(operations, ({ name }) => name.split('.').slice(0, 2).join('.'));
  const sections = [...areas].map(([area, rows]) => `\n## ${area}\n\n${rows.map(entry).join('\n')}`);
  return HEAD + sections.join('');
}

function entry(operation: AnyOperation): string {
  const { name, summary, description, access, argument, result } = operation;
  const addresses = routesOf(operation).map(({ address }) => `\`${address}\``);
  return [
    `### ${name}`,
    '',
    `${summary}.${description === undefined ? '' : ` ${description}`}`,
    '',
    `- scope: \`${access}\``,
    ...(addresses.length === 0 ? [] : [`- HTTP: ${addresses.join(', ')}`]),
    `- argument: \`${typeText(describeSchema(argument))}\``,
    `- result: \`${typeText(describeSchema(result))}\``,
    '',
  ].join('\n');
}

/** `{ userId?: string, limits: object }`, in which deeper objects are written out twice. */
function typeText(schema: JsonObject, depth = 0): string {
  const { type, const: only, enum: values, anyOf, items } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (isList(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (isList(anyOf)) return anyOf.map((form) => typeText(fieldsOf(form), depth)).join(' | ');
  if (type === 'array') {
    const entryText = typeText(fieldsOf(items), depth);
    return entryText.includes(' ') && !entryText.startsWith('{') ? `(${entryText})[]` : `${entryText}[]`;
  }
  if (type === 'object') return objectText(schema, depth);
  return typeof type === 'string' ? type : 'any';
}

const MAX_DEPTH = 2;

function objectText({ properties, required }: JsonObject, depth: number): string {
  if (!isObject(properties) || depth >= MAX_DEPTH) return 'object';
  const names = isList(required) ? required : [];
  const fields = Object.entries(properties).map(
    ([name, schema]) => `${name}${names.includes(name) ? '' : '?'}: ${typeText(fieldsOf(schema), depth + 1)}`,
  );
  return fields.length === 0 ? '{}' : `{ ${fields.join(', ')} }`;
}
