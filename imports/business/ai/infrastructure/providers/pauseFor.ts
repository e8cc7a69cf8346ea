/** Lets other requests have their turn between the stages of a long one. */
import { ownTurn } from '../../domain/util/ownTurn';

interface Entries {
  readonly input: unknown;
  readonly tools?: unknown;
  readonly response_format?: unknown;
}

/** A stage takes a few microseconds for each item, each tool and each entry of a schema. */
const MANY = 2_000;

/** @returns undefined for requests whose stages are short */
export function pauseFor(entries: Entries): Promise<void> | undefined {
  return isLong(entries) ? ownTurn() : undefined;
}

/** Whether stages of the request take long. */
export function isLong({ input, tools, response_format: format }: Entries): boolean {
  return lengthOf(input) + lengthOf(tools) > MANY || isLarge(format) || (Array.isArray(tools) && tools.some(isLarge));
}

function lengthOf(entries: unknown): number {
  return Array.isArray(entries) ? entries.length : 0;
}

/** Tools and formats pass here once per stage. */
const measured = new WeakMap<object, boolean>();

function isLarge(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return false;
  let result = measured.get(value);
  if (result === undefined) {
    result = entriesWithin(value, MANY) > MANY;
    measured.set(value, result);
  }
  return result;
}

/** The number of entries in all objects and lists, or any above the limit. */
function entriesWithin(value: object, limit: number): number {
  const entries: readonly unknown[] = Object.values(value);
  let count = entries.length;
  for (const entry of entries) {
    if (count > limit) break;
    if (typeof entry === 'object' && entry !== null) count += entriesWithin(entry, limit - count);
  }
  return count;
}
