/**
 * JSON texts of lists that are sent again and again: a history grows with every turn, and the same tools are offered
 * in each of them. Such a list is written once, and its text is used in every body that holds the list.
 */

/** By list. The lists are not changed once their text is kept. */
const texts = new WeakMap<object, string>();
/** The last list that started with an element, and its text. */
const listsByFirst = new WeakMap<object, { readonly list: readonly object[]; readonly json: string }>();

/** @param json what `JSON.stringify(list)` returns */
export function keepJson(list: readonly object[], json: string): void {
  texts.set(list, json);
}

/** For lists that are created anew for each body, of elements that stay the same. */
export function keepListJson(list: readonly object[]): void {
  const [first] = list;
  if (first === undefined) return;
  let kept = listsByFirst.get(first);
  if (kept === undefined || !isSameList(kept.list, list)) {
    kept = { list, json: JSON.stringify(list) };
    listsByFirst.set(first, kept);
  }
  keepJson(list, kept.json);
}

function isSameList(one: readonly object[], other: readonly object[]): boolean {
  return one === other || (one.length === other.length && one.every((element, index) => element === other[index]));
}

/** The JSON of a request's body. Its fields with a kept text come last. */
export function bodyJson(body: object): string {
  const others: [string, unknown][] = [];
  let kept = '';
  for (const [key, value] of Object.entries(body) as [string, unknown][]) {
    const json = Array.isArray(value) ? texts.get(value) : undefined;
    if (json === undefined) others.push([key, value]);
    else kept += `,${JSON.stringify(key)}:${json}`;
  }
  if (kept === '') return JSON.stringify(body);
  const json = JSON.stringify(Object.fromEntries(others));
  return json === '{}' ? `{${kept.slice(1)}}` : `${json.slice(0, -1)}${kept}}`;
}
