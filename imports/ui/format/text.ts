/** Cuts and cleans texts from models and users before they are shown. */

/** Replaces halves of surrogate pairs, which URLs, clipboards and encoders refuse. */
export function wellFormed(text: string): string {
  return text.replace(/[\uD800-\uDBFF][\uDC00-\uDFFF]|[\uD800-\uDFFF]/g, (match) =>
    match.length === 2 ? match : '\uFFFD',
  );
}

/** @returns the first characters, without half of a surrogate pair at the end */
export function cutText(text: string, length: number): string {
  if (text.length <= length) return text;
  const last = text.charCodeAt(length - 1);
  return text.slice(0, last >= 0xd800 && last <= 0xdbff ? length - 1 : length);
}

/** @returns the position after the given number of lines, or the text's length */
export function endOfLines(text: string, lines: number): number {
  let end = -1;
  for (let line = 0; line < lines; line += 1) {
    end = text.indexOf('\n', end + 1);
    if (end === -1) return text.length;
  }
  return end;
}
