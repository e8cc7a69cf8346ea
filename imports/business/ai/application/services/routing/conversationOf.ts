/** Names the conversation of a request, which stays at one target because vendors cache prompts per account. */
import { createHash } from 'node:crypto';
import { isList, isObject } from '../../../domain/util/json';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';

/** @returns undefined for a request that starts a conversation without naming it */
export function conversationOf({
  vendor = {},
  promptCache,
  turn,
  input,
  instructions,
}: GenerateOptions): string | undefined {
  for (const fields of [vendor.openai_responses, vendor.openai]) {
    const key = fields?.['prompt_cache_key'];
    if (typeof key === 'string' && key !== '') return `key ${key}`;
  }
  if (typeof promptCache === 'object' && promptCache.key !== undefined) return `key ${promptCache.key}`;
  if (turn !== undefined) return `run ${turn.executionId}`;
  if (!isList(input)) return undefined;
  const answered = input.some((item) => isObject(item) && !(item['role'] === 'user' || isInstruction(item)));
  if (!answered) return undefined;
  const first = input.find((item) => !isInstruction(item));
  return `start ${createHash('sha256')
    .update(JSON.stringify([instructions, textOf(first)]))
    .digest('base64url')}`;
}

function isInstruction(item: unknown): boolean {
  return isObject(item) && (item['role'] === 'system' || item['role'] === 'developer');
}

/** Clients move marks of the prompt cache from turn to turn, so only the text counts. */
function textOf(value: unknown): unknown {
  if (typeof value === 'string') return value;
  if (isList(value)) return value.map(textOf);
  if (!isObject(value)) return null;
  return value['text'] ?? (value['content'] === undefined ? null : textOf(value['content']));
}
