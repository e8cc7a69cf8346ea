/** The header that reports to clients what could not be sent to the vendor: a JSON array of sentences, in ASCII. */
import type { HttpResponse } from './HttpMessages';
import type { Loss } from '../../business/ai/domain/types/VendorTypes';

export const WARNINGS_HEADER = 'x-bolide-warnings';

/** Proxies and clients limit the size of all headers together, often to 8 KB. */
const MAX_LENGTH = 4_096;

export function warningsHeader(warnings: readonly string[]): string {
  for (let shown = mostShown(warnings); shown > 0; shown -= 1) {
    const header = asciiJson(
      shown === warnings.length ? warnings : [...warnings.slice(0, shown), more(warnings, shown)],
    );
    if (header.length <= MAX_LENGTH) return header;
  }
  return asciiJson([more(warnings, 0)]);
}

/** How many fit without the note on the others. A request can have a warning for each of its values. */
function mostShown(warnings: readonly string[]): number {
  let length = '[]'.length;
  for (const [at, warning] of warnings.entries()) {
    length += asciiJson(warning).length + (at === 0 ? 0 : ','.length);
    if (length > MAX_LENGTH) return at;
  }
  return warnings.length;
}

/** Adds a warning to those that the response has. After its headers were sent, there is no place for it. */
export function addWarning(response: HttpResponse, warning: string): void {
  if (response.headersSent) return;
  const given = response.getHeader(WARNINGS_HEADER);
  // Boundary: `warningsHeader` wrote it.
  const warnings = typeof given === 'string' ? (JSON.parse(given) as readonly string[]) : [];
  response.set(WARNINGS_HEADER, warningsHeader([...warnings, warning]));
}

export function describeLoss({ path, what, reason }: Loss): string {
  return `Not sent: ${what} (${path}). ${reason}`;
}

function more(warnings: readonly string[], shown: number): string {
  return `… and ${warnings.length - shown} more.`;
}

/** Header values may contain ASCII only (RFC 9110, 5.5). */
export function asciiJson(value: unknown): string {
  return JSON.stringify(value).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );
}
