/** Counts the tokens of a text with the tokenizer of OpenAI's current models, which is close to those of others. */
import { createHash } from 'node:crypto';
import { setImmediate as turn } from 'node:timers/promises';
import { OwnerTurns } from '../../domain/util/OwnerTurns';
import { MissingPackageError } from '../../domain/errors/LLMErrors';
import { explainMissingPackage } from '../../domain/errors/explainMissingPackage';

type CountTokens = (text: string) => number;

/** Characters that are counted at a time, since a tokenizer takes quadratic time for text without spaces. */
const SLICE = 1_000;
/** Characters that are counted; the rest of a text is taken to be like them. */
const MAX_COUNTED = 400_000;
/** Milliseconds of counting after which others get their turn. */
const MAX_TURN_MS = 10;
/** Agents count a conversation again and again, and its start is the same each time. */
const MAX_CACHED_SLICES = 20_000;

/** One text at a time: a burst of counts leaves as much time to others as a single one. */
const turns = new OwnerTurns();
/** By the digest of the slice, the oldest first, of all users: what is gone is counted again. */
const cache = new Map<string, number>();

/**
 * @param userId on whose behalf. Users take turns
 * @returns undefined if the tokenizer's package is not installed
 */
export async function countTextTokens(text: string, userId = ''): Promise<number | undefined> {
  const count = await loadTokenizer();
  if (count === undefined || text === '') return count && 0;
  return turns.run(userId, () => countSlices(text, count));
}

async function countSlices(text: string, count: CountTokens): Promise<number> {
  const counted = Math.min(text.length, MAX_COUNTED);
  let tokens = 0;
  let since = performance.now();
  for (let start = 0; start < counted; start += SLICE) {
    tokens += countSlice(text.slice(start, Math.min(start + SLICE, counted)), count);
    if (performance.now() - since < MAX_TURN_MS) continue;
    await turn();
    since = performance.now();
  }
  return Math.ceil((tokens * text.length) / counted);
}

function countSlice(slice: string, count: CountTokens): number {
  const key = createHash('sha256').update(slice).digest('base64');
  let tokens = cache.get(key);
  if (tokens !== undefined) return tokens;
  tokens = count(slice);
  cache.set(key, tokens);
  for (const oldest of cache.keys()) {
    if (cache.size <= MAX_CACHED_SLICES) break;
    cache.delete(oldest);
  }
  return tokens;
}

let tokenizer: Promise<CountTokens | undefined> | undefined;

/** @returns undefined if the package is not installed */
function loadTokenizer(): Promise<CountTokens | undefined> {
  tokenizer ??= importTokenizer();
  return tokenizer;
}

async function importTokenizer(): Promise<CountTokens | undefined> {
  try {
    const { countTokens } = await import('gpt-tokenizer');
    // Control tokens in a text are text.
    return (text) => countTokens(text, { disallowedSpecial: new Set() });
  } catch (error) {
    const explained = explainMissingPackage(error, 'gpt-tokenizer', 'Counting tokens');
    if (explained instanceof MissingPackageError) return undefined;
    throw explained;
  }
}
