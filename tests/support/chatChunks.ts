/** Splits a chat completion into the chunks of an equivalent stream. */
import type { JsonObject } from '../../imports/business/ai/domain/types/VendorTypes';

const TEXTS = ['reasoning_content', 'reasoning', 'content', 'refusal'];

interface Call {
  readonly id?: string;
  readonly type?: string;
  readonly function?: JsonObject;
}

/** @param size characters in one delta, at least 1 */
export function chunksOf(completion: JsonObject, size: number): readonly JsonObject[] {
  const { choices, usage, ...head } = completion;
  const frame = { ...head, object: 'chat.completion.chunk' };
  const [choice] = choices as readonly [JsonObject];
  const { message, finish_reason, index, ...otherFields } = choice;
  const deltas = deltasOf(message as JsonObject, size);
  const contentChunks = deltas.map((delta) => ({ ...frame, choices: [{ index, delta, finish_reason: null }] }));
  const end = { ...frame, choices: [{ index, delta: {}, ...otherFields, finish_reason }] };
  return [...contentChunks, end, ...(usage === undefined ? [] : [{ ...frame, choices: [], usage }])];
}

function deltasOf(message: JsonObject, size: number): readonly JsonObject[] {
  const { tool_calls, ...rest } = message;
  const firstDelta: JsonObject = {};
  const textDeltas: JsonObject[] = [];
  for (const [field, value] of Object.entries(rest)) {
    if (!TEXTS.includes(field) || typeof value !== 'string') firstDelta[field] = value;
    else textDeltas.push(...split(value, size).map((piece) => ({ [field]: piece })));
  }
  return [firstDelta, ...textDeltas, ...callDeltas((tool_calls ?? []) as readonly Call[], size)];
}

/** Interleaves the fragments of all calls, as models with parallel calls do. */
function callDeltas(calls: readonly Call[], size: number): readonly JsonObject[] {
  const fragments = calls.map(({ id, type, function: calledFunction = {}, ...others }, index) => {
    const { arguments: text, ...named } = calledFunction;
    const first = { index, id, type, ...others, function: { ...named, arguments: '' } };
    return [first, ...split(String(text), size).map((piece) => ({ index, function: { arguments: piece } }))];
  });
  const longest = Math.max(0, ...fragments.map((list) => list.length));
  return Array.from({ length: longest }, (_, turn) => fragments.flatMap((list) => list.slice(turn, turn + 1))).map(
    (tool_calls) => ({ tool_calls }),
  );
}

function split(text: string, size: number): readonly string[] {
  const parts = [];
  for (let at = 0; at < text.length; at += size) parts.push(text.slice(at, at + size));
  return text === '' ? [''] : parts;
}
