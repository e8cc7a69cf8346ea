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
 * The JSON of a request's body. Its fields with a kept text come last.
 * @returns pieces to be written one after the other: joining long strings would copy them
 */
export function bodyJson(body: object): readonly string[] {
  const others: [string, unknown][] = [];
  const kept: string[] = [];
  for (const [key, value] of Object.entries(body) as [string, unknown][]) {
    const elements = Array.isArray(value) ? texts.get(value) : undefined;
    if (elements === undefined) others.push([key, value]);
    else kept.push(`${kept.length === 0 ? '' : '],'}${JSON.stringify(key)}:[`, elements);
  }
  if (kept.length === 0) return [JSON.stringify(body)];
  const json = JSON.stringify(Object.fromEntries(others)).slice(0, -1);
  return [json, ...(json === '{' ? [] : [',']), ...kept, ']}'];
}
