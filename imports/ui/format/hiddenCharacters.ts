/**
 * Characters that a page does not show, or that reorder what it shows. Where people decide about a text, each stands as
 * an escape, as in JSON: what is read is what is sent.
 */

/** Controls, fillers, variation selectors, marks of direction, and separators that a page does not show. */
const HIDDEN =
  /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\u2800\u007F-\u009F\uFFF9-\uFFFB]|[^\P{Cc}\n\t\r]|\r(?!\n)/gu;
/** What belongs to a picture (the joiner of two, the selector of colours) or to a word in Arabic script. */
const ORDINARY =
  /(?<=[\p{Emoji}\u200D])\uFE0F|(?<=[\p{Extended_Pictographic}\p{Emoji_Modifier}\uFE0F])\u200D(?=\p{Extended_Pictographic})|(?<=\p{Script=Arabic})\u200C(?=\p{Script=Arabic})/uy;

/** @param text line breaks and tabs stay as they are */
export function showHidden(text: string): string {
  return text.replace(HIDDEN, (character, position: number) =>
    isOrdinary(text, position) ? character : escapeOf(character),
  );
}

export function hasHidden(text: string): boolean {
  return showHidden(text) !== text;
}

function isOrdinary(text: string, position: number): boolean {
  ORDINARY.lastIndex = position;
  return ORDINARY.test(text);
}

/** `\u202e`; two of them for a character of a higher plane, as JSON writes it. */
function escapeOf(character: string): string {
  let escaped = '';
  for (let unit = 0; unit < character.length; unit += 1)
    escaped += `\\u${character.charCodeAt(unit).toString(16).padStart(4, '0')}`;
  return escaped;
}
