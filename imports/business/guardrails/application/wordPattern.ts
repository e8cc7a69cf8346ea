/** Finds whole words and phrases, in any case. */
import { TextPattern } from './TextPattern';

const WORD_CHARACTER = String.raw`[\p{L}\p{N}\p{M}_]`;
const GAP = String.raw`\s{1,16}`;

/** @param words of phrases, the words may be separated by any white space */
export function wordPattern(words: readonly string[], replacement: string): TextPattern {
  const phrases = words
    .map((word) => word.trim().split(/\s+/))
    // Longer phrases come first, so that of two with the same beginning the longer one matches.
    .sort((a, b) => b.join(' ').length - a.join(' ').length);
  const alternatives = phrases.map((phrase) => phrase.map(escaped).join(GAP)).join('|');
  const beginnings = phrases.map((phrase) => beginningsOf(phrase)).join('|');
  return new TextPattern({
    type: 'word',
    replacement,
    candidate: new RegExp(`(?<!${WORD_CHARACTER})(?:${alternatives})(?!${WORD_CHARACTER})`, 'giu'),
    open: new RegExp(`(?<!${WORD_CHARACTER})(?:${beginnings})$`, 'giu'),
  });
}

/** Matches the phrase and everything that it starts with, except nothing. */
function beginningsOf(phrase: readonly string[]): string {
  const steps = phrase.flatMap((word, index) => {
    const characters = Array.from(word, escaped);
    return index === 0 ? characters : [GAP, ...characters];
  });
  return steps.reduceRight((rest, step) => (rest === '' ? step : `${step}(?:${rest})?`), '');
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
