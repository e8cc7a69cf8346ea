/** The address of a link in an untrusted text. @returns undefined unless it leads to a web or mail address */
export function safeUrl(href: string): string | undefined {
  try {
    const url = new URL(href);
    return ['http:', 'https:', 'mailto:'].includes(url.protocol) ? url.href : undefined;
  } catch {
    return undefined;
  }
}
