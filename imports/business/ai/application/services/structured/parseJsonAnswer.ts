/** Extracts the JSON value from a model's text. */
import type { Violation } from '../schema/SchemaViolations';

export interface JsonLimits {
  readonly characters: number;
  readonly depth: number;
}

export const DEFAULT_JSON_LIMITS: JsonLimits = { characters: 10 * 1024 * 1024, depth: 64 };

export type JsonAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly violation: Violation };

/**
 * @param lenient accepts a code fence and text around the JSON: of several values the longest counts
 * @returns the value, or the reason why there is none; never more than the limits allow
 */
export function parseJsonAnswer(text: string, lenient: boolean, limits: JsonLimits = DEFAULT_JSON_LIMITS): JsonAnswer {
  if (text.length > limits.characters)
    return refused(`the answer has ${text.length} characters, more than ${limits.characters}`);
  const trimmed = text.replace(/^\uFEFF/, '').trim();
  if (trimmed === '') return refused('the answer is empty');
  const parsed = parse(trimmed);
  if (parsed.ok) return bounded(parsed.value, limits.depth);
  const inside = lenient ? longestIn(trimmed) : undefined;
  return inside === undefined
    ? refused(`the answer is not JSON: ${parsed.reason}`)
    : bounded(inside.value, limits.depth);
}

interface Parsed {
  readonly ok: true;
  readonly value: unknown;
}

function parse(text: string): Parsed | { readonly ok: false; readonly reason: string } {
  try {
    return { ok: true, value: JSON.parse(text) as unknown };
  } catch (error) {
    return { ok: false, reason: error instanceof Error ? error.message : String(error) };
  }
}

/** How many opening brackets are tried, and how many characters may be read again after failed ones. */
const MAX_OPENINGS = 1_000;
const MAX_REREAD = 2_000_000;

function longestIn(text: string): Parsed | undefined {
  let longest: { readonly parsed: Parsed; readonly length: number } | undefined;
  let unread = text.length + MAX_REREAD;
  let start = nextOpening(text, 0);
  for (let openings = 0; start !== undefined && openings < MAX_OPENINGS && unread > 0; openings += 1) {
    const end = endOfValue(text, start);
    unread -= (end ?? text.length) - start;
    const parsed = end === undefined ? undefined : parse(text.slice(start, end));
    if (end === undefined || parsed?.ok !== true) {
      start = nextOpening(text, start + 1);
      continue;
    }
    if (end - start > (longest?.length ?? 0)) longest = { parsed, length: end - start };
    start = nextOpening(text, end);
  }
  return longest?.parsed;
}

function nextOpening(text: string, from: number): number | undefined {
  for (let at = from; at < text.length; at += 1) if (OPENING.has(text.charCodeAt(at))) return at;
  return undefined;
}

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
const OPENING = new Set([0x7b, 0x5b]);
const CLOSING = new Set([0x7d, 0x5d]);

/** The index after the bracket that closes the one at `start`. Brackets in strings don't count. */
function endOfValue(text: string, start: number): number | undefined {
  let depth = 0;
  let inString = false;
  for (let at = start; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === QUOTE) inString = !inString;
    else if (inString) {
      if (unit === BACKSLASH) at += 1;
    } else if (OPENING.has(unit)) depth += 1;
    else if (CLOSING.has(unit)) {
      depth -= 1;
      if (depth === 0) return at + 1;
    }
  }
  return undefined;
}

/** Counts the depth without recursion. A `__proto__` key could change what the value is merged into. */
function bounded(value: unknown, depth: number): JsonAnswer {
  let level = [value].filter(isContainer);
  for (let deep = 1; level.length > 0; deep += 1) {
    if (deep > depth) return refused(`the answer is nested deeper than ${depth} levels`);
    const next: object[] = [];
    for (const node of level) {
      if (Object.hasOwn(node, '__proto__')) return refused('the answer has a key "__proto__"');
      for (const child of Object.values(node) as unknown[]) if (isContainer(child)) next.push(child);
    }
    level = next;
  }
  return { ok: true, value };
}

function isContainer(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function refused(message: string): JsonAnswer {
  return { ok: false, violation: { path: '$', message } };
}
