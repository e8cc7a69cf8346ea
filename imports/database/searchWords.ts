/**
 * The words by which runs are found: lower-cased NFKC. A text is found by each of its words, and an id or a name
 * also as a whole, so that both `gpt-5.4` and `mini` find `gpt-5.4-mini`.
 */
import type { Selector } from './DocumentCollection';

const MAX_WORDS = 64;
const MAX_WORD_LENGTH = 64;
/** Words of a query that count. */
const MAX_QUERY_WORDS = 8;

/** @returns at most 64 words of at most 64 characters */
export function searchWords(texts: readonly (string | undefined)[]): readonly string[] {
  const words = new Set<string>();
  for (const text of texts) {
    if (text === undefined) continue;
    for (const part of normalized(text).split(/\s+/)) {
      for (const word of [part.replace(EDGES, ''), ...partsOf(part)]) {
        if (words.size === MAX_WORDS) return [...words];
        if (word !== '') words.add(word.slice(0, MAX_WORD_LENGTH));
      }
    }
  }
  return [...words];
}

/** Matches documents in which each word of the query begins a word of one of the fields. */
export function searchSelector(query: string, fields: readonly string[]): Selector {
  const startsWord = (prefix: string): Selector => ({
    $or: fields.map((field) => ({ [field]: { $prefix: prefix.slice(0, MAX_WORD_LENGTH) } })),
  });
  const prefixes = normalized(query)
    .split(/\s+/)
    .filter((word) => word !== '')
    .slice(0, MAX_QUERY_WORDS)
    // Stored names are words as a whole, too. Long words match fewer documents, so they are tested first.
    .flatMap((word) => (isName(word) ? [word] : partsOf(word)))
    .toSorted((a, b) => b.length - a.length);
  const conditions = prefixes.map(startsWord);
  return conditions.length === 0 ? {} : { $and: conditions };
}

function normalized(text: string): string {
  return text.normalize('NFKC').toLowerCase().toWellFormed();
}

/** Punctuation around a word. */
const EDGES = /^[^\p{L}\p{M}\p{N}]+|[^\p{L}\p{M}\p{N}]+$/gu;

/** Ids and names are searched for as a whole: `run-17` does not find the run `run-4` with 17 in its title. */
function isName(word: string): boolean {
  return /^[\p{L}\p{M}\p{N}]+(?:[-_.:/@][\p{L}\p{M}\p{N}]+)+$/u.test(word);
}

/** Letters and digits between punctuation. */
function partsOf(word: string): readonly string[] {
  return word.split(/[^\p{L}\p{M}\p{N}]+/u).filter((part) => part !== '');
}
