/** A chat completion, cut into the chunks of a stream that says the same. */
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
  const { message, finish_reason, index, ...beside } = choice;
  const deltas = deltasOf(message as JsonObject, size);
  const told = deltas.map((delta) => ({ ...frame, choices: [{ index, delta, finish_reason: null }] }));
  const end = { ...frame, choices: [{ index, delta: {}, ...beside, finish_reason }] };
  return [...told, end, ...(usage === undefined ? [] : [{ ...frame, choices: [], usage }])];
}

function deltasOf(message: JsonObject, size: number): readonly JsonObject[] {
  const { tool_calls, ...rest } = message;
  const begin: JsonObject = {};
  const pieces: JsonObject[] = [];
  for (const [field, value] of Object.entries(rest)) {
    if (!TEXTS.includes(field) || typeof value !== 'string') begin[field] = value;
    else pieces.push(...cut(value, size).map((piece) => ({ [field]: piece })));
  }
  return [begin, ...pieces, ...callDeltas((tool_calls ?? []) as readonly Call[], size)];
}

/** The fragments of all calls by turns, as models that write several at once send them. */
function callDeltas(calls: readonly Call[], size: number): readonly JsonObject[] {
  const fragments = calls.map(({ id, type, function: called = {}, ...others }, index) => {
    const { arguments: text, ...named } = called;
    const first = { index, id, type, ...others, function: { ...named, arguments: '' } };
    return [first, ...cut(String(text), size).map((piece) => ({ index, function: { arguments: piece } }))];
  });
  const longest = Math.max(0, ...fragments.map((list) => list.length));
  return Array.from({ length: longest }, (_, turn) => fragments.flatMap((list) => list.slice(turn, turn + 1))).map(
    (tool_calls) => ({ tool_calls }),
  );
}

function cut(text: string, size: number): readonly string[] {
  const pieces = [];
  for (let at = 0; at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return text === '' ? [''] : pieces;
}
