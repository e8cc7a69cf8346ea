/**
 * Arguments that a schema has sent as HTTP headers, too: with the revision 2026-07-28 over HTTP, a client must leave
 * out tools that declare them wrongly. The official client does so itself only if it walks all pages of a list.
 */
import { isObject } from '../../ai/domain/util/json';

const KEYWORD = 'x-mcp-header';
/** RFC 9110, section 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const TYPES: readonly unknown[] = ['string', 'integer', 'boolean'];

/** @returns what is wrong with the declarations of a tool's schema, if anything is */
export function findHeaderFault(schema: object): string | undefined {
  const names = new Set<string>();
  const declared = propertiesWithin(schema);
  for (const property of declared) {
    const name = property[KEYWORD];
    if (typeof name !== 'string' || !TOKEN.test(name)) return `${KEYWORD} is not the name of a header`;
    if (!TYPES.includes(property['type'])) return `${KEYWORD} is on a property that is no string, integer or boolean`;
    if (names.has(name.toLowerCase())) return `two properties have the same ${KEYWORD}`;
    names.add(name.toLowerCase());
  }
  // Elsewhere, such as in items or alternatives, it is not permitted.
  return countKeyword(schema) > declared.length ? `${KEYWORD} is not on a property of its own` : undefined;
}

/** Returns the properties with the keyword that are reached by `properties` alone. */
function propertiesWithin(schema: object): readonly Readonly<Record<string, unknown>>[] {
  const { properties } = schema as { readonly properties?: unknown };
  if (!isObject(properties)) return [];
  return Object.values(properties)
    .filter(isObject)
    .flatMap((property) => [...(KEYWORD in property ? [property] : []), ...propertiesWithin(property)]);
}

/** Where it is a keyword: not as the name of a property, nor in examples and other plain values. */
function countKeyword(schema: unknown): number {
  if (Array.isArray(schema)) return schema.reduce<number>((count, each) => count + countKeyword(each), 0);
  if (!isObject(schema)) return 0;
  return Object.entries(schema).reduce(
    (count, [name, value]) => {
      if (VALUES.includes(name)) return count;
      if (BY_NAME.includes(name) && isObject(value)) return count + countKeyword(Object.values(value));
      return count + countKeyword(value);
    },
    KEYWORD in schema ? 1 : 0,
  );
}

const VALUES = ['const', 'enum', 'default', 'examples', KEYWORD];
const BY_NAME = ['properties', 'patternProperties', 'dependentSchemas', '$defs', 'definitions'];
