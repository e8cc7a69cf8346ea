/** Reads how long a vendor asks us to wait, from all the places where vendors state it. */

type HeaderReader = (name: string) => string | null | undefined;

/**
 * Milliseconds until the vendor accepts a retry, from (in this order) `retry-after-ms`, `retry-after` in seconds or as
 * an HTTP date (RFC 9110, 10.2.3), google.rpc.RetryInfo in the body's details, and sentences such as "try again in
 * 1m2.3s".
 */
export function retryHint(
  header: HeaderReader | undefined,
  details: readonly unknown[],
  message: string,
): number | undefined {
  return (
    milliseconds(header?.('retry-after-ms')) ??
    retryAfter(header?.('retry-after')) ??
    firstDefined(details, retryInfo) ??
    durationIn(SENTENCE.exec(message)?.[1])
  );
}

function milliseconds(value: string | null | undefined): number | undefined {
  return value && PLAIN_NUMBER.test(value.trim()) ? Math.ceil(Number(value)) : undefined;
}

function retryAfter(value: string | null | undefined): number | undefined {
  if (!value) return undefined;
  if (PLAIN_NUMBER.test(value.trim())) return Math.ceil(Number(value) * 1_000);
  const date = Date.parse(ASCTIME_DATE.test(value) ? `${value} GMT` : value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - Date.now());
}

/** `{ "@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "7s" }` */
function retryInfo(detail: unknown): number | undefined {
  if (typeof detail !== 'object' || detail === null || !('retryDelay' in detail)) return undefined;
  return typeof detail.retryDelay === 'string' ? durationIn(detail.retryDelay) : undefined;
}

/** The only form of a date that has no time zone: it is in UTC. https://www.rfc-editor.org/rfc/rfc9110#section-5.6.7 */
const ASCTIME_DATE = /^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/;
const PLAIN_NUMBER = /^\d{1,12}(?:\.\d{1,12})?$/;
const UNIT = '(?:milliseconds?|ms|days?|d|hours?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])';
const SENTENCE = new RegExp(
  `\\b(?:try again in|try again after|retry in|retry after|wait)\\s+((?:\\d{1,9}(?:\\.\\d{1,12})?\\s?${UNIT}\\s?){1,5})`,
  'i',
);
const PART = new RegExp(`(\\d{1,9}(?:\\.\\d{1,12})?)\\s?(${UNIT})`, 'gi');
const MILLISECONDS_PER: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };

/** `7.66s`, `1m2.3s`, `20ms`, `9 seconds` → milliseconds */
function durationIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const parts = [...text.matchAll(PART)];
  if (parts.length === 0) return undefined;
  return Math.ceil(parts.reduce((sum, [, amount, unit]) => sum + Number(amount) * millisecondsPer(unit ?? ''), 0));
}

function millisecondsPer(unit: string): number {
  const word = unit.toLowerCase();
  if (word === 'ms' || word.startsWith('milli')) return 1;
  return MILLISECONDS_PER[word.charAt(0)] ?? 0;
}

function firstDefined<T, R>(values: readonly T[], read: (value: T) => R | undefined): R | undefined {
  for (const value of values) {
    const result = read(value);
    if (result !== undefined) return result;
  }
  return undefined;
}
