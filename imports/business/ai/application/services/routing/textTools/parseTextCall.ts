/**
 * A call that a model wrote as its whole answer: one JSON object `{ "tool", "input" }`, alone or in a code fence.
 * Anything else is prose.
 */
import { randomUUID } from 'node:crypto';
import { toolCalls } from '../../../../domain/entities/Response';
import { isObject } from '../../../../domain/json';
import type { FunctionCallItem, LLMResponse } from '../../../../domain/types/ResponsesAPITypes';

const FENCE = '```';
/** Longer answers are no calls; a call's arguments are bounded elsewhere, far below. */
const MOST_CHARACTERS = 1_000_000;

/** The call in an answer, or `undefined` for one that was cut off, that calls already, or that says anything else. */
export function parseTextCall(response: LLMResponse): FunctionCallItem | undefined {
  if (response.status !== 'completed' || toolCalls(response).length > 0) return undefined;
  const text = response.output_text.trim();
  if (text.length > MOST_CHARACTERS) return undefined;
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

/** The answer with its call in the place of the text that said it. */
export function withWrittenCall(response: LLMResponse, call: FunctionCallItem | undefined): LLMResponse {
  if (call === undefined) return response;
  const at = response.output.findIndex(({ type }) => type === 'message');
  const output = response.output.flatMap((item, index) =>
    item.type !== 'message' ? [item] : index === at ? [call] : [],
  );
  return { ...response, output, output_text: '' };
}

/** Whether a text that is still being written can end as a call. */
export function mayBeCallPrefix(text: string): boolean {
  const begun = text.trimStart();
  return begun === '' || begun.startsWith('{') || FENCE.startsWith(begun.slice(0, FENCE.length));
}

/** A fence begins with three backticks and perhaps a language, and ends with three. */
function withoutFence(text: string): string {
  if (!text.startsWith(FENCE) || !text.endsWith(FENCE) || text.length < 2 * FENCE.length) return text;
  const inside = text.slice(FENCE.length, -FENCE.length);
  return inside.slice(/^[a-z]*/i.exec(inside)?.[0].length).trim();
}

function parse(text: string): unknown {
  if (!text.startsWith('{')) return undefined;
  try {
    return JSON.parse(text);
  } catch {
    // Prose that begins with a brace.
    return undefined;
  }
}
