/**
 * A JSON Schema as Gemini takes it: references written out, what it does not know left out and named. The list is
 * that of `responseJsonSchema` (https://ai.google.dev/api/generate-content#GenerationConfig); the full schema is
 * what answers are held against.
 */
import { isObject } from '../../../../domain/json';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

/** How often a schema may stand inside itself before it is cut off. */
const RECURSION_DEPTH = 2;
/** A schema written out to more nodes than this is cut off: references that refer to references grow without end. */
const MAX_NODES = 5_000;

const COPIED_KEYWORDS = new Set([
  'title',
  'description',
  'minItems',
  'maxItems',
  'minimum',
  'maximum',
  'required',
  'propertyOrdering',
]);
const DROPPED_SILENTLY = new Set(['$schema', '$id', '$anchor', '$comment', '$defs', 'definitions', '$ref']);
const FORMATS = new Set(['date-time', 'date', 'time', 'int32', 'int64', 'float', 'double', 'enum']);

export interface SanitizedSchema {
  readonly schema: JsonObject;
  /** Paths within the schema, e.g. `.properties.age.multipleOf`. */
  readonly losses: readonly Loss[];
}

const sanitizedSchemas = new WeakMap<JsonObject, SanitizedSchema>();

/** The copy that is sent; the same schema object is looked at once. */
export function sanitizeSchema(schema: JsonObject): SanitizedSchema {
  let result = sanitizedSchemas.get(schema);
  if (result === undefined) {
    const walk = new SchemaCopier(schema);
    result = { schema: walk.copy(schema, '', []), losses: walk.losses };
    sanitizedSchemas.set(schema, result);
  }
  return result;
}

class SchemaCopier {
  readonly losses: Loss[] = [];
  private readonly root: JsonObject;
  private nodes = 0;

  constructor(root: JsonObject) {
    this.root = root;
  }

  /** @param refs the references on the way here, to see recursion */
  copy(schema: unknown, path: string, refs: readonly string[]): JsonObject {
    if (!isObject(schema)) {
      if (schema === false) this.addLoss(path, 'the schema false', 'Gemini has no schema that nothing matches');
      return {};
    }
    const plain = this.expand(schema, path, refs);
    const out: JsonObject = {};
    for (const [keyword, value] of Object.entries(plain.schema))
      this.copyKeyword(keyword, value, out, path, plain.refs);
    return out;
  }

  /** The schema without `$ref` and `allOf`: what they stand for is laid under its own keywords. */
  private expand(
    schema: JsonObject,
    path: string,
    refs: readonly string[],
  ): { readonly schema: JsonObject; readonly refs: readonly string[] } {
    this.nodes += 1;
    if (this.nodes > MAX_NODES)
      return {
        schema: this.truncate(schema, path, 'the schema is too large when its references are written out'),
        refs,
      };
    const { $ref: ref, allOf, ...own } = schema;
    if (ref === undefined && allOf === undefined) return { schema, refs };
    const lose = (what: string): void => this.addLoss(path, what, 'it contradicts another member');
    let trail = refs;
    let merged: JsonObject = {};
    const lay = (member: JsonObject): void => {
      const plain = this.expand(member, path, trail);
      trail = plain.refs;
      merged = mergeMember(merged, plain.schema, lose);
    };
    if (typeof ref === 'string') {
      const target = resolvePointer(this.root, ref);
      if (target === undefined)
        this.addLoss(`${path}.$ref`, `the reference ${ref}`, 'it points to nothing in this schema');
      else if (trail.filter((one) => one === ref).length >= RECURSION_DEPTH)
        merged = this.truncate(target, path, 'the schema contains itself');
      else {
        trail = [...trail, ref];
        lay(target);
      }
    }
    if (Array.isArray(allOf)) allOf.filter(isObject).forEach(lay);
    return { schema: mergeMember(merged, own, lose), refs: trail };
  }

  private truncate(schema: JsonObject, path: string, reason: string): JsonObject {
    this.addLoss(path, 'everything below', reason);
    const { type, description } = schema;
    return { ...(type === undefined ? {} : { type }), ...(description === undefined ? {} : { description }) };
  }

  private copyKeyword(keyword: string, value: unknown, out: JsonObject, path: string, refs: readonly string[]): void {
    const at = `${path}.${keyword}`;
    const sub = (inner: unknown, where: string): JsonObject => this.copy(inner, where, refs);
    switch (keyword) {
      case 'type':
        out.type = value;
        return;
      case 'properties':
        if (isObject(value))
          out.properties = Object.fromEntries(
            Object.entries(value).map(([name, inner]) => [name, sub(inner, `${at}.${name}`)]),
          );
        return;
      case 'items':
        if (Array.isArray(value)) out.prefixItems = value.map((inner, index) => sub(inner, `${at}[${index}]`));
        else out.items = sub(value, at);
        return;
      case 'prefixItems':
      case 'anyOf':
      case 'oneOf':
        if (Array.isArray(value)) out[keyword] = value.map((inner, index) => sub(inner, `${at}[${index}]`));
        return;
      case 'additionalProperties':
        out.additionalProperties = typeof value === 'boolean' ? value : sub(value, at);
        return;
      case 'const':
        this.copyEnum([value], out, at);
        return;
      case 'enum':
        if (Array.isArray(value)) this.copyEnum(value, out, at);
        return;
      case 'format':
        if (typeof value === 'string' && FORMATS.has(value)) out.format = value;
        else this.addLoss(at, `format ${String(value)}`, 'Gemini does not know it');
        return;
      default:
        if (COPIED_KEYWORDS.has(keyword)) out[keyword] = value;
        else if (!DROPPED_SILENTLY.has(keyword)) this.addLoss(at, keyword, 'Gemini does not know this keyword');
    }
  }

  /** Enumerations hold texts and numbers; null is a type, and true and false are what a boolean can be anyway. */
  private copyEnum(values: readonly unknown[], out: JsonObject, path: string): void {
    const sayable = values.filter((value) => typeof value === 'string' || typeof value === 'number');
    const nullable = values.includes(null);
    if (sayable.length + (nullable ? 1 : 0) < values.length) {
      this.addLoss(path, 'the enumeration', 'Gemini enumerates texts and numbers only');
      return;
    }
    if (sayable.length > 0) out.enum = sayable;
    if (out.type === undefined) out.type = typesOf(sayable, nullable);
  }

  private addLoss(path: string, what: string, reason: string): void {
    this.losses.push({ path, what, reason });
  }
}

function typesOf(values: readonly unknown[], nullable: boolean): string | string[] {
  const types = new Set<string>(values.map((value) => (typeof value === 'number' ? 'number' : 'string')));
  if (nullable) types.add('null');
  const [only, ...others] = types;
  return only !== undefined && others.length === 0 ? only : [...types];
}

/** Members of an `allOf` hold together; where two of them say different things, the first is kept. */
function mergeMember(base: JsonObject, member: JsonObject, lose: (what: string) => void): JsonObject {
  const out: JsonObject = { ...base };
  for (const [keyword, value] of Object.entries(member)) {
    const before = out[keyword];
    if (before === undefined) out[keyword] = value;
    else if (keyword === 'required' && Array.isArray(before) && Array.isArray(value))
      out.required = [...new Set<unknown>([...(before as unknown[]), ...(value as unknown[])])];
    else if (keyword === 'properties' && isObject(before) && isObject(value)) out.properties = { ...before, ...value };
    else if (keyword === 'description' || keyword === 'title') out[keyword] = value;
    else if (JSON.stringify(before) !== JSON.stringify(value)) lose(`${keyword} of a member of allOf`);
  }
  return out;
}

/** A JSON pointer in a fragment (RFC 6901, section 6). */
function resolvePointer(root: JsonObject, ref: string): JsonObject | undefined {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return undefined;
  let place: unknown = root;
  for (const token of ref.slice(2).split('/')) {
    const key = percentDecode(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(place)) place = place[Number(key)];
    else place = isObject(place) && Object.hasOwn(place, key) ? place[key] : undefined;
  }
  return isObject(place) ? place : undefined;
}

function percentDecode(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    // A lone percent sign: the name as it stands is all it can mean.
    return token;
  }
}
