/** Counts the tokens of a text with the tokenizer of OpenAI's current models, which is close to those of others. */
import { setImmediate as turn } from 'node:timers/promises';
import { MissingPackageError } from '../../domain/errors/LLMErrors';
import { explainMissingPackage } from '../../domain/errors/explainMissingPackage';

type CountTokens = (text: string) => number;

/** Characters that are counted at a time, since a tokenizer takes quadratic time for text without spaces. */
const SLICE = 1_000;
/** Characters that are counted; the rest of a text is taken to be like them. */
const MAX_COUNTED = 400_000;
/** Milliseconds of counting after which others get their turn. */
const MAX_TURN_MS = 10;

/** @returns undefined if the tokenizer's package is not installed */
export async function countTextTokens(text: string): Promise<number | undefined> {
  const count = await loadTokenizer();
  if (count === undefined || text === '') return count && 0;
  const counted = Math.min(text.length, MAX_COUNTED);
  let tokens = 0;
  let since = performance.now();
  for (let start = 0; start < counted; start += SLICE) {
    tokens += count(text.slice(start, Math.min(start + SLICE, counted)));
    if (performance.now() - since < MAX_TURN_MS) continue;
    await turn();
    since = performance.now();
  }
  return Math.ceil((tokens * text.length) / counted);
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
