/** NeDB splits lines at these characters, and JSON does not escape them. */
export function escapeLineSeparators(line: string): string {
  return line.replace(
    /[\u0085\u2028\u2029]/g,
    (separator) => `\\u${separator.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
