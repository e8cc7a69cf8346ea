/** A list of permitted tools as the text of a form: empty for all, and a word for none. */
const NONE = 'none';

/** @param tools undefined: all */
export function textOfTools(tools: readonly string[] | undefined, separator: string): string {
  if (tools === undefined) return '';
  return tools.length === 0 ? NONE : tools.join(separator);
}

/** Reads names that are separated by commas or lines. @returns null for all */
export function toolsIn(text: string): readonly string[] | null {
  const names = text
    .split(/[\n,]/)
    .map((name) => name.trim())
    .filter((name) => name !== '');
  if (names.length === 0) return null;
  return names.length === 1 && names[0]?.toLowerCase() === NONE ? [] : names;
}
