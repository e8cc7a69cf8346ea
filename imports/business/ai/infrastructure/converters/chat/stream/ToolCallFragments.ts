/** Assembles tool calls from the fragments of a stream, matched by index, by id, or only by their order. */
import { isText } from '../vendorFields';
import { fieldsOf, isObject } from '../../../../domain/util/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface PartialCall {
  readonly kind: 'function' | 'custom';
  id: string;
  name: string;
  readonly fragments: string[];
  readonly index: number | undefined;
  /** The call's other fields, and those of its `function` or `custom` object. */
  readonly fields: JsonObject;
  readonly innerFields: JsonObject;
}

export class ToolCallFragments {
  readonly calls: PartialCall[] = [];

  add(fragments: readonly unknown[]): void {
    const seen = new Set<PartialCall>();
    for (const fragment of fragments) if (isObject(fragment)) seen.add(this.addFragment(fragment, seen));
  }

  /** The calls as a response without streaming contains them, in the order of their indexes. */
  toToolCalls(): JsonObject[] {
    return this.ordered().map(assembleCall);
  }

  ordered(): PartialCall[] {
    return [...this.calls].sort((a, b) => (a.index ?? this.calls.indexOf(a)) - (b.index ?? this.calls.indexOf(b)));
  }

  private addFragment(fragment: JsonObject, seen: ReadonlySet<PartialCall>): PartialCall {
    const called = fieldsOf(isCustom(fragment) ? fragment.custom : fragment.function);
    const call = this.callOf(fragment, called, seen);
    if (isText(fragment.id) && call.id === '') call.id = fragment.id;
    // Some vendors repeat the name in every fragment; none splits it.
    if (isText(called.name) && call.name === '') call.name = called.name;
    const text = call.kind === 'custom' ? called.input : called.arguments;
    if (typeof text === 'string') call.fragments.push(text);
    else if (isObject(text)) call.fragments.push(JSON.stringify(text));
    copyOtherFields(fragment, call.fields, ['index', 'id', 'function', 'custom']);
    copyOtherFields(called, call.innerFields, ['name', 'arguments', 'input']);
    return call;
  }

  /**
   * Finds or creates the call of a fragment. Some vendors send index 0 for every call, or no index. There, a new call
   * starts with a name and a new id; without ids, with a name after complete arguments, or with a second name in the
   * same chunk.
   * @param seen the calls that this chunk already contained fragments of
   */
  private callOf(fragment: JsonObject, called: JsonObject, seen: ReadonlySet<PartialCall>): PartialCall {
    const index = typeof fragment.index === 'number' ? fragment.index : undefined;
    const id = isText(fragment.id) ? fragment.id : '';
    const hasName = isText(called.name);
    const known = this.calls.findLast((call) =>
      index === undefined ? id === '' || call.id === id : call.index === index,
    );
    if (
      known !== undefined &&
      !(hasName && startsNewCall(known, { id, index, called, isInSameChunk: seen.has(known) }))
    )
      return known;
    const call = newCall(isCustom(fragment) ? 'custom' : 'function', index);
    this.calls.push(call);
    return call;
  }
}

/** Snowflake writes both, and leaves one of them empty. */
function isCustom({ type, custom }: JsonObject): boolean {
  return type !== 'function' && isObject(custom);
}

export function newCall(kind: PartialCall['kind'], index: number | undefined): PartialCall {
  return { kind, id: '', name: '', fragments: [], index, fields: {}, innerFields: {} };
}

interface NamedFragment {
  readonly id: string;
  readonly index: number | undefined;
  readonly called: JsonObject;
  readonly isInSameChunk: boolean;
}

function startsNewCall(known: PartialCall, { id, index, called, isInSameChunk }: NamedFragment): boolean {
  if (id !== '') return known.id !== '' && id !== known.id;
  if (index === undefined) return isInSameChunk || hasCompleteArguments(known);
  // The same index and name may only be repeated metadata of the known call.
  return (
    (called.name !== known.name || isText(called.arguments) || isObject(called.arguments)) &&
    hasCompleteArguments(known)
  );
}

function hasCompleteArguments({ fragments }: PartialCall): boolean {
  try {
    JSON.parse(fragments.join(''));
    return true;
  } catch {
    return false;
  }
}

function copyOtherFields(from: JsonObject, to: JsonObject, keys: readonly string[]): void {
  for (const key in from) if (!keys.includes(key) && (from[key] !== null || to[key] === undefined)) to[key] = from[key];
}

function assembleCall({ kind, id, name, fragments, fields, innerFields }: PartialCall): JsonObject {
  const text = fragments.join('');
  const called = kind === 'custom' ? { ...innerFields, name, input: text } : { ...innerFields, name, arguments: text };
  return { ...(id === '' ? {} : { id }), type: kind, ...fields, [kind]: called };
}
