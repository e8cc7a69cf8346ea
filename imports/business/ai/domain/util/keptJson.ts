/**
 * JSON texts of lists that are sent again and again: a history grows with every turn, and the same tools are offered
 * in each of them. Such a list is written once, and its text is used in every body that holds the list.
 */

/** By list: what `JSON.stringify` writes between the brackets. The lists are not changed once their text is kept. */
const texts = new WeakMap<object, string>();
/** The last list that started with an element, and its text. */
const listsByFirst = new WeakMap<object, { readonly list: readonly object[]; readonly elements: string }>();

/** @param elements what `JSON.stringify(list)` returns, without the brackets */
export function keepJson(list: readonly object[], elements: string): void {
  texts.set(list, elements);
}

/**
 * For lists that are created anew for each body, of elements that stay the same. They are frozen, and `JSON.stringify`
 * writes all that follows a frozen array in the same value twice as slowly.
 */
export function keepListJson(list: readonly object[]): void {
  const [first] = list;
  if (first === undefined) return;
  let kept = listsByFirst.get(first);
  if (kept === undefined || !isSameList(kept.list, list)) {
    kept = { list, elements: JSON.stringify(list).slice(1, -1) };
    listsByFirst.set(first, kept);
  }
  keepJson(list, kept.elements);
}

function isSameList(one: readonly object[], other: readonly object[]): boolean {
  return one === other || (one.length === other.length && one.every((element, index) => element === other[index]));
}

/**
 * The JSON of a request's body. Its long lists, and its fields with a kept text, come last.
 * @returns pieces to be written one after the other: joining long strings would copy them
 */
export function bodyJson(body: object): readonly string[] {
  const others: [string, unknown][] = [];
  const kept: string[] = [];
  for (const [key, value] of Object.entries(body) as [string, unknown][]) {
    const elements = Array.isArray(value) ? piecesOf(value) : undefined;
    if (elements === undefined) others.push([key, value]);
    else kept.push(`${kept.length === 0 ? '' : '],'}${JSON.stringify(key)}:[`, ...elements);
  }
  if (kept.length === 0) return [JSON.stringify(body)];
  const json = JSON.stringify(Object.fromEntries(others)).slice(0, -1);
  return [json, ...(json === '{' ? [] : [',']), ...kept, ']}'];
}

/** Elements of a list that is written in pieces. */
const LONG = 256;
/** Characters of a piece. V8 keeps strings above 128 KB apart, where each costs a system call. */
const PIECE = 48 * 1_024;

/** @returns undefined for a short list without a kept text */
function piecesOf(list: readonly unknown[]): readonly string[] | undefined {
  const kept = texts.get(list);
  if (kept !== undefined) return [kept];
  if (list.length < LONG) return undefined;
  const pieces: string[] = [];
  let count = 16;
  for (let from = 0; from < list.length;) {
    const piece = JSON.stringify(list.slice(from, from + count)).slice(1, -1);
    if (from > 0) pieces.push(',');
    pieces.push(piece);
    from += count;
    count = Math.max(1, Math.round((count * PIECE) / piece.length));
  }
  return pieces;
}
