/**
 * Normalizes Messages API requests, so that equivalent ones compare equal: a string and a single text block, a missing
 * or null field and its documented default. All other differences remain.
 * https://platform.claude.com/docs/en/api/messages
 */
import type { JsonObject } from '../../../imports/business/ai/domain/types/VendorTypes';

/** The defaults of missing fields. */
const DEFAULTS: Readonly<Record<string, unknown>> = { stream: false };

export function meaningOfAnthropic(body: JsonObject): JsonObject {
  const { messages, system, tools, tool_choice, stop_sequences, ...others } = withoutNulls(body);
  return {
    ...Object.fromEntries(
      Object.entries(others).filter(([field, value]) => !(field in DEFAULTS && DEFAULTS[field] === value)),
    ),
    messages: turns(Array.isArray(messages) ? messages : []),
    ...(system === undefined || system === '' ? {} : { system: blocks(system) }),
    ...(isEmpty(tools) ? {} : { tools: (tools as readonly JsonObject[]).map(withoutNulls) }),
    ...(tool_choice === undefined ? {} : { tool_choice: choice(tool_choice as JsonObject) }),
    ...(isEmpty(stop_sequences) ? {} : { stop_sequences }),
  };
}

/** "Consecutive `user` or `assistant` turns in your request will be combined into a single turn." */
function turns(messages: readonly JsonObject[]): readonly JsonObject[] {
  const combined: { role: unknown; content: readonly JsonObject[] }[] = [];
  for (const { role, content, ...others } of messages) {
    const last = combined.at(-1);
    if (last !== undefined && last.role === role && role !== 'system')
      last.content = [...last.content, ...blocks(content)];
    else combined.push({ role, content: blocks(content), ...others });
  }
  return combined;
}

/** "Using a `string` for `content` is shorthand for an array of one content block of type `"text"`." */
function blocks(content: unknown): readonly JsonObject[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return (content as readonly JsonObject[]).map((block) => {
    const { is_error, ...rest } = withoutNulls(block);
    if (rest.type !== 'tool_result') return is_error === undefined ? rest : { ...rest, is_error };
    const { content: result, ...others } = rest;
    return {
      ...others,
      ...(is_error === true ? { is_error } : {}),
      ...(isEmpty(result) ? {} : { content: blocks(result) }),
    };
  });
}

function choice({ disable_parallel_tool_use, ...others }: JsonObject): JsonObject {
  return disable_parallel_tool_use === true ? { ...others, disable_parallel_tool_use } : others;
}

function isEmpty(value: unknown): boolean {
  return value === undefined || (Array.isArray(value) && value.length === 0);
}

function withoutNulls(fields: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null && value !== undefined));
}
