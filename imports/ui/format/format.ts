/** Formats numbers, times and JSON for display. */
import { readJson } from '../../business/ai/domain/util/json';

/** 840 ms, 2.4 s, 1 m 12 s, 2 h 03 m. */
export function formatDuration(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 59_950) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} m ${twoDigits(seconds % 60)} s`;
  const minutes = Math.round(seconds / 60);
  return `${Math.floor(minutes / 60)} h ${twoDigits(minutes % 60)} m`;
}

/** 940, 12.3k, 4.1M. */
export function formatCount(value: number): string {
  if (value < 10_000) return INTEGER.format(value);
  if (value < 999_950) return `${(value / 1_000).toFixed(1)}k`;
  return `${(value / 1_000_000).toFixed(1)}M`;
}

/** US dollars; small amounts get four decimals. */
export function formatMoney(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars < 0.000_1) return '< $0.0001';
  if (dollars < 0.1) return `$${dollars.toFixed(4)}`;
  return `$${dollars.toFixed(2)}`;
}

/** just now, 12 s ago, 5 min ago, 3 h ago, then the date. */
export function formatRelativeTime(at: number, now: number): string {
  const seconds = Math.floor((now - at) / 1_000);
  if (seconds < 5) return 'just now';
  if (seconds < 60) return `${seconds} s ago`;
  if (seconds < 3_600) return `${Math.floor(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.floor(seconds / 3_600)} h ago`;
  return DATE.format(at);
}

/** 14:03:27 */
export function formatClockTime(at: number): string {
  return TIME.format(at);
}

/** 22 Nov 2026, 14:03:27 */
export function formatDateTime(at: number): string {
  return DATE_TIME.format(at);
}

/** Indents JSON objects and arrays, and returns any other text unchanged. */
export function prettyJson(text: string): string {
  const value = readJson(text);
  return typeof value === 'object' && value !== null ? JSON.stringify(value, undefined, 2) : text;
}

export function pluralize(amount: number, one: string, many = `${one}s`): string {
  return `${formatCount(amount)} ${amount === 1 ? one : many}`;
}

function twoDigits(value: number): string {
  return String(value).padStart(2, '0');
}

// Created once: creating a formatter costs more than using it a hundred times.
const INTEGER = new Intl.NumberFormat('en-US');
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short', year: 'numeric' });
const TIME = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' });
const DATE_TIME = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
});
