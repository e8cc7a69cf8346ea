/** Adds to the input of a run what is remembered about its user. */
import type { Memory } from '../../../domain/interfaces/Memory';
import { recalledIds, recalledMessage } from '../../../domain/entities/recalledMemories';
import type { LLMInput } from '../../../domain/types/LLMTypes';
import type { Item, MessageItem } from '../../../domain/types/ResponsesAPITypes';
import { invalid } from '../../../domain/util/arguments';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { normalizeInput } from '../ContentNormalizer';
import { orAborted } from '../shared/orAborted';

/** `true`: up to five memories. */
export type RecallOption = boolean | { /** From 1 to 20; default 5. */ readonly limit?: number };

const DEFAULT_LIMIT = 5;
const MAX_LIMIT = 20;
/** Characters of all recalled texts together. */
const MAX_CHARACTERS = 6_000;

/**
 * The memories that suit the last message of the user, as a message before it. Those that the history shows already are
 * not repeated, and the history stays as it is: what a vendor has cached of it is used again.
 * @param memory absent: the program has none
 * @throws LLMInvalidRequestError for an invalid option, and without a memory; LLMAbortedError
 */
export async function recallMemories(
  memory: Pick<Memory, 'search'> | undefined,
  userId: string,
  { input, signal }: { readonly input: LLMInput; readonly signal?: AbortSignal },
  option: RecallOption | undefined,
): Promise<LLMInput> {
  const limit = limitOf(option);
  if (limit === 0) return input;
  if (memory === undefined) throw invalid('recall', 'needs a memory, and this program has none');
  const items = normalizeInput(input);
  const at = items.findLastIndex((item) => item.type === 'message' && item.role === 'user');
  const query = at === -1 ? '' : textOf(items[at] as MessageItem);
  if (query === '') return items;
  const shown = recalledIds(items);
  const request = omitUndefined({ query, limit: limit + Math.min(shown.size, MAX_LIMIT), signal });
  const { memories } = await orAborted(memory.search(userId, request), signal);
  let characters = 0;
  const chosen = memories
    .filter(({ id }) => !shown.has(id))
    .slice(0, limit)
    .filter(({ text }) => (characters += text.length) <= MAX_CHARACTERS);
  const message = recalledMessage(chosen);
  return message === undefined ? items : insertAt<Item>(items, at, message);
}

/** @returns 0 for none @throws LLMInvalidRequestError */
function limitOf(option: RecallOption | undefined): number {
  if (option === undefined || option === false) return 0;
  const { limit = DEFAULT_LIMIT } = option === true ? {} : option;
  if (Number.isInteger(limit) && limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw invalid('recall.limit', `must be an integer from 1 to ${MAX_LIMIT}`);
}

function textOf({ content }: MessageItem): string {
  return content
    .flatMap((part) => (part.type === 'input_text' ? part.text : []))
    .join('\n')
    .trim();
}

function insertAt<T>(list: readonly T[], at: number, entry: T): readonly T[] {
  return [...list.slice(0, at), entry, ...list.slice(at)];
}
