/** What a request has even after everything was left out that compaction may leave out, and whether that fits. */
import { LLMContextLengthError } from '../../../../domain/errors/LLMErrors';
import type { NormalizedOptions } from '../../../../domain/types/LLMTypes';
import type { Item } from '../../../../domain/types/ResponsesAPITypes';
import { historyTokens, itemTokens, leastTextTokens, prefixTokens, textTokens } from './historyTokens';

export interface LeastRequest {
  readonly model: string | undefined;
  readonly transcript: readonly Item[];
  /** Indexes in the transcript of what is kept. */
  readonly pinned: ReadonlySet<number>;
  /** Instructions, tools and the format of the answer. */
  readonly prefix: Partial<NormalizedOptions>;
}

/**
 * Refuses what can only be refused by the vendor, before anything is summarized for it. Without a count of the vendor,
 * only what exceeds the window with the sparest tokenizer is refused; the rest is left to the vendor.
 * @param window tokens
 * @param count asks the vendor, for the request with these items; undefined if it does not count
 * @throws LLMContextLengthError
 */
export async function assertLeastFits(
  request: LeastRequest,
  window: number,
  count: (items: readonly Item[]) => Promise<number | undefined>,
): Promise<void> {
  const { transcript, pinned, prefix } = request;
  const items = transcript.filter((_, index) => pinned.has(index));
  if (prefixTokens(prefix) + historyTokens(items) <= window) return;
  const counted = await count(items);
  const tokens = counted ?? leastTextTokens(prefix, items);
  if (tokens > window) throw tooLong(request, { tokens, window, isCounted: counted !== undefined });
}

function tooLong(
  request: LeastRequest,
  { tokens, window, isCounted }: { readonly tokens: number; readonly window: number; readonly isCounted: boolean },
): LLMContextLengthError {
  const { model } = request;
  const path = largestPart(request);
  const of = model === undefined ? 'of the model' : `of "${model}"`;
  return new LLMContextLengthError(
    `The request has ${isCounted ? '' : 'at least '}${tokens} tokens, ${tokens - window} more than the context window ` +
      `${of} (${window}), and nothing more can be left out of it. Most of them are in ${path}: shorten it, or choose a ` +
      'model with a larger window.',
    { path },
  );
}

/** @returns the path of what takes the most tokens */
function largestPart({ transcript, pinned, prefix: { instructions = '', tools = [] } }: LeastRequest): string {
  let path = 'instructions';
  let most = textTokens(instructions);
  const offer = (name: string, tokens: number): void => {
    if (tokens <= most) return;
    path = name;
    most = tokens;
  };
  offer('tools', textTokens(JSON.stringify(tools)));
  for (const index of pinned) offer(`input[${index}]`, itemTokens(transcript[index] as Item));
  return path;
}
