/** Tool calls that come in fragments: by number, by id, or by nothing but their order. */
import { isText } from '../chatJson';
import { fieldsOf, isObject } from '../../../../domain/json';
import type { JsonObject } from '../../../../domain/types/VendorTypes';

export interface CallFragments {
  readonly kind: 'function' | 'custom';
  id: string;
  name: string;
  readonly pieces: string[];
  readonly number: number | undefined;
  /** Fields of the call beside those that the wire has in fragments. */
  readonly fields: JsonObject;
  readonly beside: JsonObject;
}

export class ToolCallFragments {
  readonly calls: CallFragments[] = [];

  add(fragments: readonly unknown[]): void {
    const begun = new Set<CallFragments>();
    for (const fragment of fragments) if (isObject(fragment)) begun.add(this.addFragment(fragment, begun));
  }

  /** The calls as an answer without streaming has them: in the order of their numbers. */
  whole(): JsonObject[] {
    return this.ordered().map(wholeCall);
  }

  ordered(): CallFragments[] {
    return [...this.calls].sort((a, b) => (a.number ?? this.calls.indexOf(a)) - (b.number ?? this.calls.indexOf(b)));
  }

  private addFragment(fragment: JsonObject, begun: ReadonlySet<CallFragments>): CallFragments {
    const called = isObject(fragment.custom) ? fragment.custom : fieldsOf(fragment.function);
    const call = this.callOf(fragment, called, begun);
    if (isText(fragment.id) && call.id === '') call.id = fragment.id;
    // Some hosts repeat the name with every fragment; none sends it in pieces.
    if (isText(called.name) && call.name === '') call.name = called.name;
    const piece = call.kind === 'custom' ? called.input : called.arguments;
    if (typeof piece === 'string') call.pieces.push(piece);
    else if (isObject(piece)) call.pieces.push(JSON.stringify(piece));
    copyOthers(fragment, call.fields, ['index', 'id', 'function', 'custom']);
    copyOthers(called, call.beside, ['name', 'arguments', 'input']);
    return call;
  }

  /**
   * Hosts that number every call 0, or none, tell a new one by a new id beside a name; without ids, by a name after
   * whole arguments, or by a second name in one chunk.
   * @param begun the calls that this chunk has told already
   */
  private callOf(fragment: JsonObject, called: JsonObject, begun: ReadonlySet<CallFragments>): CallFragments {
    const number = typeof fragment.index === 'number' ? fragment.index : undefined;
    const id = isText(fragment.id) ? fragment.id : '';
    const begins = isText(called.name);
    const known = this.calls.findLast((call) =>
      number === undefined ? id === '' || call.id === id : call.number === number,
    );
    if (known !== undefined && !(begins && isAnother(known, { id, number, called, toldNow: begun.has(known) })))
      return known;
    const call = newCall(isObject(fragment.custom) ? 'custom' : 'function', number);
    this.calls.push(call);
    return call;
  }
}

export function newCall(kind: CallFragments['kind'], number: number | undefined): CallFragments {
  return { kind, id: '', name: '', pieces: [], number, fields: {}, beside: {} };
}

interface Beginning {
  readonly id: string;
  readonly number: number | undefined;
  readonly called: JsonObject;
  readonly toldNow: boolean;
}

function isAnother(known: CallFragments, { id, number, called, toldNow }: Beginning): boolean {
  if (id !== '') return known.id !== '' && id !== known.id;
  if (number === undefined) return toldNow || isWhole(known);
  // A number with its name again may say no more than that.
  return (called.name !== known.name || isText(called.arguments) || isObject(called.arguments)) && isWhole(known);
}

function isWhole({ pieces }: CallFragments): boolean {
  try {
    JSON.parse(pieces.join(''));
    return true;
  } catch {
    return false;
  }
}

function copyOthers(from: JsonObject, to: JsonObject, keys: readonly string[]): void {
  for (const key in from) if (!keys.includes(key) && (from[key] !== null || to[key] === undefined)) to[key] = from[key];
}

function wholeCall({ kind, id, name, pieces, fields, beside }: CallFragments): JsonObject {
  const text = pieces.join('');
  const called = kind === 'custom' ? { ...beside, name, input: text } : { ...beside, name, arguments: text };
  return { ...(id === '' ? {} : { id }), type: kind, ...fields, [kind]: called };
}
