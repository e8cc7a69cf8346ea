/**
 * Assembles a function call that arrives in pieces (Vertex AI, `streamFunctionCallArguments`): first its name, then
 * `partialArgs`, each with a JSON path and a value, and finally an empty call.
 * https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling#stream-function-call-arguments
 */
import type { GooglePart } from '../googleTypes';
import { LLMStreamError } from '../../../../domain/errors/LLMErrors';
import { fieldsOf, isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export class GooglePartialCall {
  private siblings: JsonObject = {};
  private call: JsonObject = {};
  private args: JsonObject = {};
  /** Paths whose text continues in the next piece. */
  private readonly open = new Set<string>();
  /** The path of the last piece. */
  private last: { readonly keys: readonly (string | number)[]; readonly isOpen: boolean } | undefined;

  /** Returns whether more pieces follow. */
  add(part: GooglePart): boolean {
    const { functionCall, ...siblings } = part;
    const { partialArgs, willContinue, args, ...call } = fieldsOf(functionCall);
    this.siblings = { ...this.siblings, ...siblings };
    this.call = { ...this.call, ...Object.fromEntries(Object.entries(call).filter(([, value]) => value !== null)) };
    if (isObject(args)) this.args = { ...this.args, ...args };
    if (Array.isArray(partialArgs)) for (const piece of partialArgs) if (isObject(piece)) this.apply(piece);
    return willContinue === true;
  }

  get name(): string {
    return typeof this.call.name === 'string' ? this.call.name : '';
  }

  /** Further pieces have no name, or that of the call. */
  isContinuedBy(part: GooglePart): boolean {
    if (!isObject(part.functionCall)) return false;
    const { name, id } = part.functionCall;
    return (
      (isAbsent(name) || name === this.name) && (isAbsent(id) || this.call.id === undefined || id === this.call.id)
    );
  }

  /** The part that a response without streaming would contain. */
  part(): GooglePart {
    return { functionCall: { ...this.call, args: this.args }, ...this.siblings };
  }

  /** The JSON of the arguments up to the last piece: without the brackets, and the quote, that may close later. */
  get argumentText(): string {
    const json = JSON.stringify(this.args);
    if (this.last === undefined) return '';
    const { keys, isOpen } = this.last;
    return json.slice(0, -keys.length - (isOpen ? 1 : 0));
  }

  private apply(piece: JsonObject): void {
    const { jsonPath, willContinue } = piece;
    if (typeof jsonPath !== 'string') throw new LLMStreamError('A piece of a function call has no "jsonPath".');
    const keys = parsePath(jsonPath);
    const value = valueOf(piece);
    if (value === undefined) return;
    const before = this.open.has(jsonPath) ? valueAt(this.args, keys) : undefined;
    const complete = typeof before === 'string' && typeof value === 'string' ? before + value : value;
    // Boundary: a path has at least one step, and the root is an object.
    this.args = withValue(this.args, keys, complete) as JsonObject;
    if (willContinue === true) this.open.add(jsonPath);
    else this.open.delete(jsonPath);
    this.last = { keys, isOpen: willContinue === true && typeof complete === 'string' };
  }
}

/** Clients and gateways write absent fields as null. */
export function isAbsent(value: unknown): boolean {
  return value === undefined || value === null;
}

function valueOf(piece: JsonObject): unknown {
  if ('stringValue' in piece) return piece.stringValue;
  if ('numberValue' in piece) return piece.numberValue;
  if ('boolValue' in piece) return piece.boolValue;
  return 'nullValue' in piece ? null : undefined;
}

/** Parses the singular queries of RFC 9535: names after a dot or in quotes, indexes in brackets. */
function parsePath(path: string): (string | number)[] {
  const keys: (string | number)[] = [];
  const step = /\.([^.[\]'"]+)|\[(\d+)\]|\['((?:[^'\\]|\\.)*)'\]|\["((?:[^"\\]|\\.)*)"\]/y;
  step.lastIndex = 1;
  while (path.startsWith('$') && step.lastIndex < path.length) {
    const match = step.exec(path);
    if (match === null) break;
    const [, name, place, single, double] = match;
    keys.push(place === undefined ? (name ?? (single ?? double ?? '').replace(/\\(.)/g, '$1')) : Number(place));
    if (step.lastIndex === path.length) return keys;
  }
  throw new LLMStreamError(`A piece of a function call has the unsupported jsonPath "${path.slice(0, 200)}".`);
}

function valueAt(container: unknown, keys: readonly (string | number)[]): unknown {
  let node = container;
  for (const key of keys) {
    if (Array.isArray(node)) node = typeof key === 'number' ? node[key] : undefined;
    else node = isObject(node) && Object.hasOwn(node, key) ? node[key] : undefined;
  }
  return node;
}

/**
 * Returns a copy of the container that includes the value. Missing objects and lists along the path are created; a list
 * grows by one element at a time.
 */
function withValue(container: unknown, keys: readonly (string | number)[], value: unknown): unknown {
  const [key, ...rest] = keys;
  if (key === undefined) return value;
  if (typeof key === 'number') {
    const list: unknown[] = Array.isArray(container) ? [...(container as unknown[])] : [];
    if (key > list.length) throw new LLMStreamError('A piece of a function call skips elements of a list.');
    list[key] = withValue(list[key], rest, value);
    return list;
  }
  const entries = isObject(container) ? Object.entries(container).filter(([name]) => name !== key) : [];
  const before = isObject(container) && Object.hasOwn(container, key) ? container[key] : undefined;
  // Unlike an assignment, fromEntries defines a property even for names such as __proto__.
  return Object.fromEntries([...entries, [key, withValue(before, rest, value)]]);
}
