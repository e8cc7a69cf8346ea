/** Reading URLs that callers, settings and vendors give. */

/**
 * The URL, or undefined if the text is not one.
 *
 * `URL.canParse` is not used, because it comes to call valid URLs with letters such as "ü" invalid: V8 hands them to
 * its optimized form as Latin-1, where Node expects UTF-8.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}
