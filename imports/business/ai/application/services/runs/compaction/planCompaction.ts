/** Decides what of a history is left out. Pure functions of the transcript, its compaction so far and the room. */
import { omitUndefined } from '../../../../domain/util/omitUndefined';
import type { Item } from '../../../../domain/types/ResponsesAPITypes';
import type { RunCompaction } from '../../../../domain/types/Compaction';
import { cuts } from './compactedHistory';
import { itemTokens } from './historyTokens';

/** A history is compacted to this share of the tokens that a request may have. */
const TARGET_SHARE = 0.5;
/** The end of a history, up to this share of those tokens, stays as it is. */
const RECENT_SHARE = 0.2;
/** Less is not worth a summary. */
const MIN_SUMMARIZED_SHARE = 0.05;
/** One request for a summary may have this share of those tokens. */
const CHUNK_SHARE = 0.6;
/** Characters that the latest results keep in turn, until the history fits. */
const RESULT_CHARACTERS = [256_000, 128_000, 64_000, 32_000, 16_000, 8_000, 4_000, 2_000, 1_000, 400] as const;

export interface Room {
  /** Tokens that a request may have. */
  readonly limit: number;
  /** The request's tokens with that compaction, as far as they can be told. */
  readonly tokensWith: (compaction: RunCompaction) => number;
  /** Tokens as the vendor counts them per estimated one. */
  readonly ratio: number;
}

/** All results but the latest, and those of the last turn, become references. */
export function withClearedResults(
  transcript: readonly Item[],
  previous: RunCompaction | undefined,
  { limit, ratio }: Room,
  recall: string | undefined,
): RunCompaction {
  const lastTurn = cuts(transcript, 0).at(-1) ?? 0;
  const recent = Math.min(lastTurn, startOfRecent(transcript, (limit * RECENT_SHARE) / ratio));
  return omitUndefined({
    count: (previous?.count ?? 0) + 1,
    length: transcript.length,
    summarizedUpTo: previous?.summarizedUpTo ?? 0,
    summary: previous?.summary,
    vendor: previous?.vendor,
    clearedUpTo: Math.max(previous?.clearedUpTo ?? 0, recent),
    recall,
    limit: previous?.limit,
  });
}

/** Without what only a vendor can read: the transcript from its beginning. */
export function withoutVendor(compaction: RunCompaction): RunCompaction {
  const { vendor, summary: _, ...rest } = compaction;
  return vendor === undefined ? compaction : { ...rest, summarizedUpTo: 0 };
}

export function isShortEnough(compaction: RunCompaction, { limit, tokensWith }: Room): boolean {
  return tokensWith(compaction) <= limit * TARGET_SHARE;
}

/**
 * Where the parts end that are summarized one after the other, each with the summary of those before it.
 * @returns none if there is too little to summarize
 */
export function summarizedParts(
  transcript: readonly Item[],
  { summarizedUpTo, clearedUpTo }: RunCompaction,
  { limit, ratio }: Room,
  isOverflow: boolean,
): readonly number[] {
  const possible = cuts(transcript, summarizedUpTo);
  const end = possible.findLast((index) => index <= clearedUpTo) ?? possible[0];
  if (end === undefined) return [];
  const parts: number[] = [];
  let total = 0;
  let tokens = 0;
  let lastCut = summarizedUpTo;
  const largest = (limit * CHUNK_SHARE) / ratio;
  for (let index = summarizedUpTo, next = 0; index < end; index += 1) {
    if (possible[next] === index) {
      next += 1;
      lastCut = index;
    }
    const added = itemTokens(transcript[index] as Item);
    if (tokens > 0 && tokens + added > largest && lastCut > (parts.at(-1) ?? summarizedUpTo)) {
      parts.push(lastCut);
      tokens = 0;
      for (let again = lastCut; again < index; again += 1) tokens += itemTokens(transcript[again] as Item);
    }
    tokens += added;
    total += added;
  }
  if (!isOverflow && total * ratio < limit * MIN_SUMMARIZED_SHARE) return [];
  return [...parts, end];
}

/** Cuts even the latest results, no more than it takes. */
export function withCutResults(compaction: RunCompaction, { limit, tokensWith }: Room): RunCompaction {
  let cut = compaction;
  for (const resultCharacters of RESULT_CHARACTERS) {
    if (tokensWith(cut) <= limit) break;
    cut = { ...compaction, resultCharacters };
  }
  return cut;
}

function startOfRecent(transcript: readonly Item[], tokens: number): number {
  let left = tokens;
  let index = transcript.length;
  while (index > 0) {
    left -= itemTokens(transcript[index - 1] as Item);
    if (left < 0) break;
    index -= 1;
  }
  return index;
}
