/** Times in fields of the type `datetime-local`, which are in the browser's time zone. */

/** @param at milliseconds since the epoch, as text; '' for none */
export function toLocalTime(at: string): string {
  const time = Number(at);
  if (at === '' || !Number.isFinite(time)) return '';
  const date = new Date(time - new Date(time).getTimezoneOffset() * 60_000);
  return Number.isNaN(date.getTime()) ? '' : date.toISOString().slice(0, 16);
}

/** @returns milliseconds since the epoch, as text; '' for none */
export function fromLocalTime(text: string): string {
  // Without an offset, the text is a local time.
  const time = text === '' ? NaN : new Date(text).getTime();
  return Number.isNaN(time) ? '' : String(time);
}
