/** Makes vendor messages safe to show: reduces markup to its text, masks secrets, limits the length. */
import type { JsonObject } from '../types/VendorTypes';

/** Maximum length of a message in UTF-16 code units. Vendors echo entire prompts in theirs. */
const MAX_MESSAGE_LENGTH = 1_000;
/** How much of a page and of its text is read, since the patterns below must not run over megabytes. */
const MAX_PAGE_LENGTH = 16 * 1024;
const MAX_READ_LENGTH = 4 * MAX_MESSAGE_LENGTH;

/** Stands for a masked secret. */
export const REDACTED = '[redacted]';

/**
 * Patterns of credentials, with the part of the match that stays visible. The first rows match vendor prefixes, the
 * last ones shapes.
 */
const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(?:sk-|csk-|xai-|nvapi-|pplx-|gsk_|hf_|r8_|fw_|tgp_|cpk_)(?=[\w*.-]*[\d*])[\w*.-]{6,}/g, REDACTED],
  [/\bAIza[\w*-]{6,}/g, REDACTED],
  [/\bya29\.[\w*.-]{6,}/g, REDACTED],
  [/\beyJ[\w-]{6,}(?:\.[\w-]+){1,4}/g, REDACTED],
  [/\b(Bearer|Basic)\s+(?!token\b|auth)[\w.~+/*=-]{8,}/gi, `$1 ${REDACTED}`],
  [
    /\b(api[ _-]?key|token|secret|credential|password)((?: provided)?\s*[:=]\s*["'`]?)(?!\s|REDACTED)[^\s"'`,;]{3,}/gi,
    `$1$2${REDACTED}`,
  ],
  [/([?&](?:key|api[_-]?key|access_token|token|sig|signature|code|client_secret)=)[^&\s"'<>]+/gi, `$1${REDACTED}`],
  [/(\b[a-z][a-z0-9+.-]*:\/\/)[^\s/@:]+:[^\s/@]+@/gi, `$1${REDACTED}@`],
  [/[\w.-]*\*{3,}[\w*.-]*/g, REDACTED],
  [/\b[0-9a-f]{32,}\b/gi, REDACTED],
  [/\b(?=[A-Za-z0-9]*\d)(?=[A-Za-z0-9]*[A-Z])(?=[A-Za-z0-9]*[a-z])[A-Za-z0-9]{40,}\b/g, REDACTED],
];

/** Masks everything that looks like a key, a fragment of one, or a token. */
export function redactSecrets(text: string): string {
  return SECRETS.reduce((safe, [pattern, replacement]) => safe.replace(pattern, replacement), text);
}

/** Reduces text or an HTML page to a short message that is safe to show. Empty if there is no text. */
export function safeMessage(text: string): string {
  const page = text.slice(0, MAX_PAGE_LENGTH);
  const visible = isHtml(page) ? textOfHtml(page) : page;
  return shorten(redactSecrets(withoutControls(visible.trim().slice(0, MAX_READ_LENGTH))));
}

/** Makes a vendor's JSON safe to show, each string in it like a message. Undefined if it is too large for a client. */
export function safeJson(value: JsonObject): JsonObject | undefined {
  const json = JSON.stringify(value);
  if (json.length > MAX_PAGE_LENGTH) return undefined;
  return JSON.parse(json, (_key, part: unknown) => (typeof part === 'string' ? safeMessage(part) : part)) as JsonObject;
}

function isHtml(text: string): boolean {
  return /^\s*<(?:!doctype html|html|head|body|h1|center|\?xml)\b/i.test(text);
}

/** Uses the page's title or, without one, its visible text. */
function textOfHtml(page: string): string {
  const title = /<title[^<>]*>([^<]*)/i.exec(page)?.[1]?.trim();
  if (title) return decodeEntities(title);
  const visible = page.replace(/<(script|style)\b[^]*?(?:<\/\1\s*>|$)/gi, ' ').replace(/<[^<>]*>/g, ' ');
  return decodeEntities(visible).replace(/\s+/g, ' ');
}

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  '#39': "'",
  nbsp: ' ',
};

function decodeEntities(text: string): string {
  return text.replace(/&(#?\w{1,6});/g, (entity, name: string) => ENTITIES[name.toLowerCase()] ?? entity);
}

function withoutControls(text: string): string {
  return text
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f\u2028\u2029\u202a-\u202e\u2066-\u2069]/g, '')
    .toWellFormed();
}

function shorten(text: string): string {
  return text.length <= MAX_MESSAGE_LENGTH ? text : `${text.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}…`;
}
