/** Tool calls that come in fragments: by number, by id, or by nothing but their order. */
import { isText } from '../chatJson';
import { fieldsOf, isObject } from '../../../../domain/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface PartialCall {
  readonly kind: 'function' | 'custom';
  id: string;
  name: string;
  readonly fragments: string[];
  readonly index: number | undefined;
  /** Fields of the call beside those that the wire has in fragments. */
  readonly fields: JsonObject;
  readonly innerFields: JsonObject;
}

export class ToolCallFragments {
  readonly calls: PartialCall[] = [];

  add(fragments: readonly unknown[]): void {
    const seen = new Set<PartialCall>();
    for (const fragment of fragments) if (isObject(fragment)) seen.add(this.addFragment(fragment, seen));
  }

  /** The calls as an answer without streaming has them: in the order of their numbers. */
  toToolCalls(): JsonObject[] {
    return this.ordered().map(assembleCall);
  }

  ordered(): PartialCall[] {
    return [...this.calls].sort((a, b) => (a.index ?? this.calls.indexOf(a)) - (b.index ?? this.calls.indexOf(b)));
  }

  private addFragment(fragment: JsonObject, seen: ReadonlySet<PartialCall>): PartialCall {
    const called = isObject(fragment.custom) ? fragment.custom : fieldsOf(fragment.function);
    const call = this.callOf(fragment, called, seen);
    if (isText(fragment.id) && call.id === '') call.id = fragment.id;
    // Some hosts repeat the name with every fragment; none sends it in pieces.
    if (isText(called.name) && call.name === '') call.name = called.name;
    const text = call.kind === 'custom' ? called.input : called.arguments;
    if (typeof text === 'string') call.fragments.push(text);
    else if (isObject(text)) call.fragments.push(JSON.stringify(text));
    copyOtherFields(fragment, call.fields, ['index', 'id', 'function', 'custom']);
    copyOtherFields(called, call.innerFields, ['name', 'arguments', 'input']);
    return call;
  }

  /**
   * Hosts that number every call 0, or none, tell a new one by a new id beside a name; without ids, by a name after
   * whole arguments, or by a second name in one chunk.
   * @param seen the calls that this chunk has told already
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
    const call = newCall(isObject(fragment.custom) ? 'custom' : 'function', index);
    this.calls.push(call);
    return call;
  }
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
  // A number with its name again may say no more than that.
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
