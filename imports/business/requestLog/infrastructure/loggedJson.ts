/** The JSON of a logged body: secrets masked, long texts and long lists cut, so that it stays valid and bounded. */
import { REDACTED, redactSecrets } from '../../ai/domain/errors/safeText';
import { isCredentialField, isHeadersField, maskValues } from '../../ai/domain/errors/maskCredentials';

/** Characters of the JSON, approximately. */
export const MAX_BODY_LENGTH = 256 * 1_024;
/** Characters of one text. */
const MAX_TEXT_LENGTH = 32 * 1_024;
/** Characters without a blank. Longer ones are images and other binary data. */
const MAX_WORD_LENGTH = 1_000;
/** How much of a longer word remains. */
const WORD_BEGINNING = 100;
/** Characters that are searched for secrets at a time: the patterns are slow on long texts. */
const PIECE_LENGTH = 1_000;
const MAX_DEPTH = 64;

export function loggedJson(value: unknown): string {
  return JSON.stringify(new BoundedCopy(MAX_BODY_LENGTH).copy(value, '', 0) ?? null);
}

class BoundedCopy {
  private left: number;

  constructor(limit: number) {
    this.left = limit;
  }

  copy(value: unknown, name: string, depth: number): unknown {
    if (typeof value === 'string') return this.text(isCredentialField(name) ? REDACTED : value);
    if (typeof value !== 'object' || value === null) {
      this.left -= 8;
      return typeof value === 'function' || typeof value === 'bigint' || typeof value === 'symbol' ? undefined : value;
    }
    if (depth >= MAX_DEPTH) return '…';
    if (Array.isArray(value)) return this.list(value, name, depth);
    return this.object(value, depth);
  }

  private list(values: readonly unknown[], name: string, depth: number): unknown[] {
    const copied: unknown[] = [];
    for (const value of values) {
      if (this.left <= 0) {
        copied.push(`… ${values.length - copied.length} more`);
        break;
      }
      copied.push(this.copy(value, name, depth + 1) ?? null);
    }
    return copied;
  }

  private object(value: object, depth: number): Record<string, unknown> {
    const copied: Record<string, unknown> = {};
    for (const [name, field] of Object.entries(value)) {
      if (field === undefined) continue;
      if (this.left <= 0) {
        copied['…'] = 'The rest was not logged.';
        break;
      }
      this.left -= name.length;
      copied[name] = isHeadersField(name) ? maskValues(field) : this.copy(field, name, depth + 1);
    }
    return copied;
  }

  private text(text: string): string {
    const limit = Math.min(MAX_TEXT_LENGTH, Math.max(this.left, WORD_BEGINNING));
    // Masking first would read megabytes, cutting first could halve a secret so that it is not recognized.
    const safe = redactPieces(shortenWords(text.slice(0, limit + MAX_WORD_LENGTH)));
    const cut = text.length > limit ? `${safe.slice(0, limit).toWellFormed()}… (${text.length} characters)` : safe;
    this.left -= cut.length;
    return cut;
  }
}

function shortenWords(text: string): string {
  if (text.length <= MAX_WORD_LENGTH) return text;
  return text.replace(LONG_WORD, (word) => `${word.slice(0, WORD_BEGINNING)}…`);
}

const LONG_WORD = new RegExp(`\\S{${MAX_WORD_LENGTH},}`, 'g');

/** Splits at blanks, so that no secret is split. */
function redactPieces(text: string): string {
  let safe = '';
  for (let start = 0; start < text.length;) {
    const end = start + PIECE_LENGTH >= text.length ? text.length : lastBlank(text, start, start + PIECE_LENGTH);
    safe += redactSecrets(text.slice(start, end));
    start = end;
  }
  return safe;
}

/** Prefers the end of a line: a secret may follow its name after a blank. */
function lastBlank(text: string, start: number, end: number): number {
  const line = text.lastIndexOf('\n', end);
  if (line > start) return line;
  for (let at = end; at > start; at -= 1) if (/\s/.test(text.charAt(at))) return at;
  return end;
}
