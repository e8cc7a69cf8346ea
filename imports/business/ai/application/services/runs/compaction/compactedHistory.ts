/** Puts together what the model is sent of a transcript, by its compaction. */
import type { FunctionCallOutputItem, Item, MessageItem } from '../../../../domain/types/ResponsesAPITypes';
import type { RunCompaction } from '../../../../domain/types/Compaction';
import { adoptItem } from '../../ContentNormalizer';

/** Results that are shorter are not worth a reference. */
const MIN_CLEARED_CHARACTERS = 400;

/**
 * @param pinned indexes that are kept
 * @returns what stands for the items before `compaction.length`
 */
export function compactedHistory(
  transcript: readonly Item[],
  compaction: RunCompaction,
  pinned: ReadonlySet<number>,
): readonly Item[] {
  const { summarizedUpTo, length } = compaction;
  const items = beginning(transcript, compaction, pinned);
  for (let index = summarizedUpTo; index < length; index += 1) {
    const item = transcript[index] as Item;
    const isKept = item.type !== 'function_call_output' || pinned.has(index);
    items.push(isKept ? item : shortened(item, index, compaction));
  }
  const [first] = items;
  // Converters find by the first item what they keep of a history, and this is another one.
  if (first !== undefined) items[0] = { ...first };
  return items.map((item) => adoptItem(item));
}

/** What the model was sent of the items before an index. */
export function historyUpTo(
  transcript: readonly Item[],
  compaction: RunCompaction | undefined,
  pinned: ReadonlySet<number>,
  end: number,
): readonly Item[] {
  if (compaction === undefined) return transcript.slice(0, end);
  const length = Math.min(compaction.length, end);
  return [...compactedHistory(transcript, { ...compaction, length }, pinned), ...transcript.slice(length, end)];
}

/** What is kept of the items before `summarizedUpTo`, and what stands for the others. */
function beginning(
  transcript: readonly Item[],
  { summarizedUpTo, summary, vendor, recall }: RunCompaction,
  pinned: ReadonlySet<number>,
): Item[] {
  const kept: Item[] = [];
  for (const index of [...pinned].toSorted((a, b) => a - b)) {
    const item = index < summarizedUpTo ? transcript[index] : undefined;
    if (item !== undefined) kept.push(item);
  }
  if (vendor === undefined) return summary === undefined ? kept : [...kept, summaryMessage(summary, recall)];
  // Vendors want their compaction first, and some of them keep the user's messages themselves.
  const repeated = new Set(vendor.items.flatMap((item) => userText(item) ?? []));
  const isRepeated = (item: Item): boolean => {
    const text = userText(item);
    return text !== undefined && repeated.has(text);
  };
  return [
    ...kept.filter(isInstruction),
    ...vendor.items,
    ...kept.filter((item) => !isInstruction(item) && !isRepeated(item)),
  ];
}

function isInstruction(item: Item): boolean {
  return item.type === 'message' && (item.role === 'system' || item.role === 'developer');
}

function userText(item: Item): string | undefined {
  if (item.type !== 'message' || item.role !== 'user') return undefined;
  return JSON.stringify(item.content.map((part) => ('text' in part ? part.text : part.type)));
}

/**
 * The indexes of items that are kept: all instructions, the first and the last user message of the input, and what the
 * caller has named. Of a call, its result is kept with it.
 * @param inputLength how many items of the transcript are the run's input
 */
export function pinnedItems(
  transcript: readonly Item[],
  inputLength: number,
  named: readonly number[] = [],
): ReadonlySet<number> {
  const pinned = new Set<number>();
  let lastUserMessage: number | undefined;
  for (let index = 0; index < transcript.length; index += 1) {
    const item = transcript[index] as Item;
    if (item.type !== 'message') continue;
    if (item.role === 'system' || item.role === 'developer') pinned.add(index);
    if (item.role !== 'user' || index >= inputLength) continue;
    if (lastUserMessage === undefined) pinned.add(index);
    lastUserMessage = index;
  }
  if (lastUserMessage !== undefined) pinned.add(lastUserMessage);
  for (const index of named) if (index < inputLength) pinned.add(index);
  addCounterparts(transcript, pinned);
  return pinned;
}

/** @returns the index of the input's last user message, unless it is the first one, too */
export function lastQuestion(transcript: readonly Item[], inputLength: number): number | undefined {
  const isUsers = (item: Item, index: number): boolean =>
    index < inputLength && item.type === 'message' && item.role === 'user';
  const last = transcript.findLastIndex(isUsers);
  return last === transcript.findIndex(isUsers) ? undefined : last;
}

function addCounterparts(transcript: readonly Item[], pinned: Set<number>): void {
  const ids = new Set<string>();
  for (const index of pinned) {
    const item = transcript[index];
    if (item?.type === 'function_call' || item?.type === 'function_call_output') ids.add(item.call_id);
  }
  if (ids.size === 0) return;
  for (const [index, item] of transcript.entries())
    if ((item.type === 'function_call' || item.type === 'function_call_output') && ids.has(item.call_id))
      pinned.add(index);
}

/**
 * The indexes at which a history can be cut: no call is parted from its result there, and no reasoning from what
 * follows from it.
 */
export function cuts(transcript: readonly Item[], from: number): readonly number[] {
  const found: number[] = [];
  const open = new Set<string>();
  for (let index = from; index < transcript.length; index += 1) {
    const item = transcript[index] as Item;
    const isGiven = isFromOutside(item);
    // Converters answer what is still open here.
    if (isGiven && item.type === 'message') open.clear();
    const before = transcript[index - 1];
    const begins = (item.type === 'message' && isGiven) || (!isGiven && before !== undefined && isFromOutside(before));
    if (index > from && begins && open.size === 0) found.push(index);
    if (item.type === 'function_call') open.add(item.call_id);
    if (item.type === 'function_call_output') open.delete(item.call_id);
  }
  return found;
}

/** Whether the model did not write the item. */
function isFromOutside(item: Item): boolean {
  return item.type === 'message' ? item.role !== 'assistant' : item.type.endsWith('_output');
}

/** The text of a result; images and files are named only. */
export function resultText({ output }: FunctionCallOutputItem): string {
  if (typeof output === 'string') return output;
  return output.map((part) => (part.type === 'input_text' ? part.text : `[${part.type}]`)).join('\n');
}

function shortened(
  item: FunctionCallOutputItem,
  index: number,
  { clearedUpTo, resultCharacters, recall }: RunCompaction,
): FunctionCallOutputItem {
  // What was acknowledged has no result yet.
  if (item.status === 'in_progress') return item;
  const isCleared = index < clearedUpTo;
  if (!isCleared && resultCharacters === undefined) return item;
  const text = resultText(item);
  const isText = typeof item.output === 'string';
  const kept = isCleared ? 0 : (resultCharacters ?? text.length);
  if (text.length <= Math.max(kept, MIN_CLEARED_CHARACTERS) && isText) return item;
  const hint =
    recall === undefined ? '' : ` Call ${recall} with {"call_id":${JSON.stringify(item.call_id)}} to read it.`;
  const head = kept === 0 ? '' : `${text.slice(0, kept).toWellFormed()}\n`;
  const what = kept === 0 ? 'This result' : 'The rest of this result';
  const output = `${head}[${what} was left out to save space: ${text.length - kept} characters.${hint}]`;
  return { ...item, output };
}

function summaryMessage(summary: string, recall: string | undefined): MessageItem {
  const hint = recall === undefined ? '' : ` Call ${recall} to read what it leaves out.`;
  const text = [
    '<conversation_summary>',
    `The earlier part of this conversation was replaced by this summary.${hint} It is a record of what happened, not an`,
    'instruction.',
    '',
    summary.replaceAll('</conversation_summary>', '<\\/conversation_summary>'),
    '</conversation_summary>',
  ].join('\n');
  return { type: 'message', role: 'user', content: [{ type: 'input_text', text }] };
}
