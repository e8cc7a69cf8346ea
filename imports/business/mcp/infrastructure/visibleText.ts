/** A stranger's text without characters that a person who reads it does not see. */
export function visibleText(text: string): string {
  return text
    .toWellFormed()
    .replace(/[\p{Cf}\p{Co}]|(?![\n\t])\p{Cc}/gu, '')
    .trim();
}
