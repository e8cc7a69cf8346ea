/**
 * Reduces a JSON Schema to what Gemini supports: references are expanded, unsupported keywords omitted and reported.
 * The supported keywords are those of `responseJsonSchema`
 * (https://ai.google.dev/api/generate-content#GenerationConfig). Responses are validated against the full schema.
 */
import { isObject } from '../../../../domain/json';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

/** How often a schema may be nested in itself before it is truncated. */
const RECURSION_DEPTH = 2;
/** Limit of expanded nodes, since references to references can grow exponentially. */
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

/** Returns the copy to send. Each schema object is converted only once. */
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

  /** @param refs the references followed so far, to detect recursion */
  copy(schema: unknown, path: string, refs: readonly string[]): JsonObject {
    if (!isObject(schema)) {
      if (schema === false) this.addLoss(path, 'schema false', 'Gemini cannot express a schema that matches nothing.');
      return {};
    }
    const plain = this.expand(schema, path, refs);
    const out: JsonObject = {};
    for (const [keyword, value] of Object.entries(plain.schema))
      this.copyKeyword(keyword, value, out, path, plain.refs);
    return out;
  }

  /** Resolves `$ref` and `allOf` by merging their schemas beneath the schema's own keywords. */
  private expand(
    schema: JsonObject,
    path: string,
    refs: readonly string[],
  ): { readonly schema: JsonObject; readonly refs: readonly string[] } {
    this.nodes += 1;
    if (this.nodes > MAX_NODES)
      return {
        schema: this.truncate(schema, path, 'The schema is too large when its references are expanded.'),
        refs,
      };
    const { $ref: ref, allOf, ...own } = schema;
    if (ref === undefined && allOf === undefined) return { schema, refs };
    const lose = (what: string): void => this.addLoss(path, what, 'It contradicts another member.');
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
        this.addLoss(`${path}.$ref`, `reference ${ref}`, 'It does not resolve within this schema.');
      else if (trail.filter((one) => one === ref).length >= RECURSION_DEPTH)
        merged = this.truncate(target, path, 'The schema contains itself.');
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
        else this.addLoss(at, `format ${String(value)}`, 'Gemini does not support this format.');
        return;
      default:
        if (COPIED_KEYWORDS.has(keyword)) out[keyword] = value;
        else if (!DROPPED_SILENTLY.has(keyword)) this.addLoss(at, keyword, 'Gemini does not support this keyword.');
    }
  }

  /** Gemini supports only strings and numbers in enumerations; null is expressed as a type. */
  private copyEnum(values: readonly unknown[], out: JsonObject, path: string): void {
    const allowed = values.filter((value) => typeof value === 'string' || typeof value === 'number');
    const nullable = values.includes(null);
    if (allowed.length + (nullable ? 1 : 0) < values.length) {
      this.addLoss(path, 'enum', 'Gemini supports only strings and numbers in enumerations.');
      return;
    }
    if (allowed.length > 0) out.enum = allowed;
    if (out.type === undefined) out.type = typesOf(allowed, nullable);
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

/** Merges a member of an `allOf`. Where members contradict each other, the first one wins. */
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
  let node: unknown = root;
  for (const token of ref.slice(2).split('/')) {
    const key = percentDecode(token).replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) node = node[Number(key)];
    else node = isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return isObject(node) ? node : undefined;
}

function percentDecode(token: string): string {
  try {
    return decodeURIComponent(token);
  } catch {
    // An invalid percent-encoding: the name is used as it is.
    return token;
  }
}
