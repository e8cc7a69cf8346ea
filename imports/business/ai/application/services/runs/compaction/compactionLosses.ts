/** Says what a compaction left out. */
import type { RunCompaction } from '../../../../domain/types/Compaction';
import type { Item } from '../../../../domain/types/ResponsesAPITypes';
import type { Loss } from '../../../../domain/types/VendorTypes';

/** What the model no longer sees since the last compaction. */
export function lossesOf(
  transcript: readonly Item[],
  previous: RunCompaction | undefined,
  next: RunCompaction,
  pinned: ReadonlySet<number>,
): readonly Loss[] {
  const losses: Loss[] = [];
  const isAnew = previous?.vendor !== undefined && next.vendor === undefined;
  const from = isAnew ? 0 : (previous?.summarizedUpTo ?? 0);
  const { summarizedUpTo, clearedUpTo } = next;
  const reason = 'The history was compacted to fit into the context window of the model.';
  if (summarizedUpTo > from) {
    const stands = next.vendor === undefined ? 'a summary' : "the vendor's compaction";
    let dropped = 0;
    for (let index = from; index < summarizedUpTo; index += 1) if (!pinned.has(index)) dropped += 1;
    losses.push({ path: `input[${from}]`, what: `${dropped} items, replaced by ${stands}`, reason });
  }
  const start = Math.max(summarizedUpTo, previous?.clearedUpTo ?? 0);
  const results = transcript.slice(start, clearedUpTo).filter(({ type }) => type === 'function_call_output').length;
  if (results > 0) losses.push({ path: `input[${start}]`, what: `the text of up to ${results} tool results`, reason });
  if (next.resultCharacters !== undefined)
    losses.push({
      path: `input[${clearedUpTo}]`,
      what: `all but ${next.resultCharacters} characters of each of the latest tool results`,
      reason,
    });
  return losses;
}
