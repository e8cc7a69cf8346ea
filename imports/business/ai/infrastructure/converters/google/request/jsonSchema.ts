/**
 * Reduces a JSON Schema to what Gemini supports: references are expanded, unsupported keywords omitted and reported.
 * The supported keywords are those of `responseJsonSchema`
 * (https://ai.google.dev/api/generate-content#GenerationConfig). Responses are validated against the full schema.
 */
import { mapFields } from '../../shared/mapFields';
import { isObject } from '../../../../domain/util/json';
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { JsonObject, Loss } from '../../../../domain/types/VendorTypes';

/** How often a schema may be nested in itself before it is truncated. */
const RECURSION_DEPTH = 2;
/** Limit of the nodes that references lead to, since references to references can grow exponentially. */
const MAX_EXPANDED = 5_000;
/** References to references that are followed from one place. */
const MAX_TRAIL = 200;

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

/** Returns what to send: the schema itself if it needs no change. Each schema object is converted only once. */
export function sanitizeSchema(schema: JsonObject): SanitizedSchema {
  let result = sanitizedSchemas.get(schema);
  if (result === undefined) {
    const walk = new SchemaCopier(schema);
    result = { schema: walk.copy(schema, []), losses: walk.losses };
    sanitizedSchemas.set(schema, result);
  }
  return result;
}

interface ExpandedSchema {
  readonly schema: JsonObject;
  /** The references followed so far, to detect recursion. */
  readonly refs: readonly string[];
}

class SchemaCopier {
  readonly losses: Loss[] = [];
  private readonly root: JsonObject;
  /** Where the walk is. Few places need to be named. */
  private readonly steps: (string | number)[] = [];
  /** Nodes that references led to. */
  private expanded = 0;

  constructor(root: JsonObject) {
    this.root = root;
  }

  /** @param refs the references followed so far */
  copy(schema: unknown, refs: readonly string[]): JsonObject {
    if (!isObject(schema)) {
      if (schema === false) this.addLoss('schema false', 'Gemini cannot express a schema that matches nothing.');
      return {};
    }
    const plain = this.expand(schema, refs);
    const out: JsonObject = {};
    let isChanged = plain.schema !== schema;
    for (const keyword of Object.keys(plain.schema)) {
      const value = plain.schema[keyword];
      this.steps.push(keyword);
      this.copyKeyword(keyword, value, out, plain.refs);
      this.steps.pop();
      isChanged ||= out[keyword] !== value;
    }
    return isChanged ? out : schema;
  }

  /** Resolves `$ref` and `allOf` by merging their schemas beneath the schema's own keywords. */
  private expand(schema: JsonObject, refs: readonly string[]): ExpandedSchema {
    if (refs.length > 0) this.expanded += 1;
    if (this.expanded > MAX_EXPANDED && refs.length > 0)
      return { schema: this.truncate(schema, 'The schema is too large when its references are expanded.'), refs };
    if (schema.$ref === undefined && schema.allOf === undefined) return { schema, refs };
    const { $ref: ref, allOf, ...own } = schema;
    const merge = new SchemaMerge((what) => this.addLoss(what, 'It contradicts another member.'));
    let trail = refs;
    const lay = (member: JsonObject): void => {
      const plain = this.expand(member, trail);
      trail = plain.refs;
      merge.add(plain.schema);
    };
    if (typeof ref === 'string') {
      const target = resolvePointer(this.root, ref);
      if (target === undefined) this.addLoss(`reference ${ref}`, 'It does not resolve within this schema.', '.$ref');
      else if (trail.filter((one) => one === ref).length >= RECURSION_DEPTH)
        merge.add(this.truncate(target, 'The schema contains itself.'));
      else if (trail.length >= MAX_TRAIL)
        merge.add(this.truncate(target, 'The schema refers to references too often.'));
      else {
        trail = [...trail, ref];
        lay(target);
      }
    }
    if (Array.isArray(allOf)) allOf.filter(isObject).forEach(lay);
    merge.add(own);
    return { schema: merge.result(), refs: trail };
  }

  private truncate({ type, description }: JsonObject, reason: string): JsonObject {
    this.addLoss('everything below', reason);
    return omitUndefined({ type, description });
  }

  private copyKeyword(keyword: string, value: unknown, out: JsonObject, refs: readonly string[]): void {
    switch (keyword) {
      case 'type':
        out.type = value;
        return;
      case 'properties':
        if (isObject(value)) out.properties = mapFields(value, (inner, name) => this.copyAt(name, inner, refs));
        return;
      case 'items':
        if (Array.isArray(value)) out.prefixItems = this.copyList(value, refs);
        else out.items = this.copy(value, refs);
        return;
      case 'prefixItems':
      case 'anyOf':
      case 'oneOf':
        if (Array.isArray(value)) out[keyword] = this.copyList(value, refs);
        return;
      case 'additionalProperties':
        out.additionalProperties = typeof value === 'boolean' ? value : this.copy(value, refs);
        return;
      case 'const':
        this.copyEnum([value], out);
        return;
      case 'enum':
        if (Array.isArray(value)) this.copyEnum(value, out);
        return;
      case 'format':
        if (typeof value === 'string' && FORMATS.has(value)) out.format = value;
        else this.addLoss(`format ${String(value)}`, 'Gemini does not support this format.');
        return;
      default:
        if (COPIED_KEYWORDS.has(keyword)) out[keyword] = value;
        else if (!DROPPED_SILENTLY.has(keyword)) this.addLoss(keyword, 'Gemini does not support this keyword.');
    }
  }

  private copyList(values: readonly unknown[], refs: readonly string[]): readonly unknown[] {
    const copies = values.map((inner, index) => this.copyAt(index, inner, refs));
    return copies.every((copy, index) => copy === values[index]) ? values : copies;
  }

  private copyAt(step: string | number, schema: unknown, refs: readonly string[]): JsonObject {
    this.steps.push(step);
    const copy = this.copy(schema, refs);
    this.steps.pop();
    return copy;
  }

  /** Gemini supports only strings and numbers in enumerations; null is expressed as a type. */
  private copyEnum(values: readonly unknown[], out: JsonObject): void {
    const allowed = values.filter((value) => typeof value === 'string' || typeof value === 'number');
    const nullable = values.includes(null);
    if (allowed.length + (nullable ? 1 : 0) < values.length) {
      this.addLoss('enum', 'Gemini supports only strings and numbers in enumerations.');
      return;
    }
    if (allowed.length > 0) out.enum = allowed.length === values.length ? values : allowed;
    if (out.type === undefined) out.type = typesOf(allowed, nullable);
  }

  private addLoss(what: string, reason: string, below = ''): void {
    const path = this.steps.map((step) => (typeof step === 'number' ? `[${step}]` : `.${step}`)).join('');
    this.losses.push({ path: path + below, what, reason });
  }
}

function typesOf(values: readonly unknown[], nullable: boolean): string | string[] {
  const types = new Set<string>(values.map((value) => (typeof value === 'number' ? 'number' : 'string')));
  if (nullable) types.add('null');
  const [only, ...others] = types;
  return only !== undefined && others.length === 0 ? only : [...types];
}

/** Merges the members of an `allOf`. Where members contradict each other, the first one wins. */
class SchemaMerge {
  private readonly out: JsonObject = {};
  private readonly lose: (what: string) => void;
  /** Own copies, which grow with each member. */
  private properties: JsonObject | undefined;
  private required: Set<unknown> | undefined;

  constructor(lose: (what: string) => void) {
    this.lose = lose;
  }

  add(member: JsonObject): void {
    const { out } = this;
    for (const [keyword, value] of Object.entries(member)) {
      const before = out[keyword];
      if (before === undefined) out[keyword] = value;
      else if (keyword === 'required' && Array.isArray(before) && Array.isArray(value)) {
        this.required ??= new Set<unknown>(before);
        for (const name of value) this.required.add(name);
      } else if (keyword === 'properties' && isObject(before) && isObject(value)) {
        this.properties ??= { ...before };
        out.properties = Object.assign(this.properties, value);
      } else if (keyword === 'description' || keyword === 'title') out[keyword] = value;
      else if (JSON.stringify(before) !== JSON.stringify(value)) this.lose(`${keyword} of a member of allOf`);
    }
  }

  result(): JsonObject {
    if (this.required !== undefined) this.out.required = [...this.required];
    return this.out;
  }
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
