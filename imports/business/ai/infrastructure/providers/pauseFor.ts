/** Lets other requests have their turn between the stages of a long one. */
import { ownTurn } from '../../domain/ownTurn';

interface Entries {
  readonly input: unknown;
  readonly tools?: unknown;
}

/** A stage takes a few microseconds for each item and each tool. */
const MANY = 2_000;

/** @returns undefined for requests whose stages are short */
export function pauseFor({ input, tools }: Entries): Promise<void> | undefined {
  return lengthOf(input) + lengthOf(tools) > MANY ? ownTurn() : undefined;
}

function lengthOf(entries: unknown): number {
  return Array.isArray(entries) ? entries.length : 0;
}
