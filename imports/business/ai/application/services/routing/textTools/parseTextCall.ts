/**
 * Recognizes a tool call that a model wrote as its entire response: one JSON object `{ "tool", "input" }`, alone or
 * in a code fence. Anything else is prose.
 */
import { randomUUID } from 'node:crypto';
import { toolCalls } from '../../../../domain/entities/Response';
import { isObject, readJson } from '../../../../domain/util/json';
import type { FunctionCallItem, LLMResponse } from '../../../../domain/types/ResponsesAPITypes';

const FENCE = '```';
/** Longer responses are never calls: the limit for arguments, enforced elsewhere, is far lower. */
const MAX_CHARACTERS = 1_000_000;

/** The call in a response, or `undefined` if it was cut off, has native calls, or is prose. */
export function parseTextCall(response: LLMResponse): FunctionCallItem | undefined {
  if (response.status !== 'completed' || toolCalls(response).length > 0) return undefined;
  const text = response.output_text.trim();
  if (text.length > MAX_CHARACTERS) return undefined;
  const value = parse(withoutFence(text));
  if (!isObject(value) || typeof value.tool !== 'string' || value.tool === '') return undefined;
  if (Object.keys(value).some((key) => key !== 'tool' && key !== 'input')) return undefined;
  const { input = {} } = value;
  return {
    type: 'function_call',
    call_id: `call_${randomUUID().replaceAll('-', '')}`,
    name: value.tool,
    arguments: typeof input === 'string' ? input : JSON.stringify(input),
    status: 'completed',
  };
}

/** The response with the call in place of the message that it was written in. */
export function withTextCall(response: LLMResponse, call: FunctionCallItem | undefined): LLMResponse {
  if (call === undefined) return response;
  const at = response.output.findIndex(({ type }) => type === 'message');
  const output = response.output.flatMap((item, index) =>
    item.type !== 'message' ? [item] : index === at ? [call] : [],
  );
  return { ...response, output, output_text: '' };
}

/** Whether a text that is still being streamed may become a call. */
export function mayBeCallPrefix(text: string): boolean {
  const start = text.trimStart();
  return start === '' || start.startsWith('{') || FENCE.startsWith(start.slice(0, FENCE.length));
}

/** A fence opens with three backticks and an optional language, and closes with three. */
function withoutFence(text: string): string {
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE) || text.length < 2 * FENCE.length) return text;
  const inside = text.slice(FENCE.length, -FENCE.length);
  return inside.slice(/^[a-z]*/i.exec(inside)?.[0].length).trim();
}

function parse(text: string): unknown {
  return text.startsWith('{') ? readJson(text) : undefined;
}
