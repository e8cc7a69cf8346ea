/**
 * The parts of a Responses request that the simulator reads,
 * https://platform.openai.com/docs/api-reference/responses/create.
 */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { asObject, asString, objectsIn } from '../../json';

/** An input or output item; a message may omit its type. */
export interface Item {
  readonly type?: string;
  readonly id?: string | null;
  readonly role?: string;
  readonly content?: unknown;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: string;
  readonly input?: string;
  readonly output?: unknown;
  readonly async?: boolean;
  readonly status?: string | null;
  readonly encrypted_content?: string | null;
  readonly [field: string]: unknown;
}

export interface ResponsesBody {
  readonly input?: string | readonly Item[];
  readonly instructions?: string | null;
  readonly tools?: readonly JsonObject[] | null;
  readonly tool_choice?: string | JsonObject | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly text?: { readonly format?: JsonObject; readonly verbosity?: string | null } | null;
  readonly truncation?: string | null;
  readonly reasoning?: { readonly effort?: string | null; readonly summary?: string | null } | null;
  readonly include?: readonly string[] | null;
  readonly store?: boolean | null;
  readonly previous_response_id?: string | null;
  readonly conversation?: string | { readonly id?: string } | null;
  readonly background?: boolean | null;
  readonly max_output_tokens?: number | null;
  readonly temperature?: number | null;
  readonly prompt_cache_options?: JsonObject | null;
}

/** A body that the wire's schema accepted. */
export function responsesBody(body: JsonObject): ResponsesBody {
  return body;
}

/** A string is equivalent to one user message. */
export function inputItems(body: ResponsesBody): readonly Item[] {
  if (body.input === undefined) return [];
  return typeof body.input === 'string'
    ? [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: body.input }] }]
    : body.input;
}

export function typeOf(item: Item): string {
  return item.type ?? 'message';
}

export function isCall(item: Item): boolean {
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

export function isOutput(item: Item): boolean {
  return item.type === 'function_call_output' || item.type === 'custom_tool_call_output';
}

/**
 * Calls of these tools may receive their output in a later request,
 * https://platform.openai.com/docs/api-reference/responses/create#tools.
 */
export function asyncTools(body: ResponsesBody): ReadonlySet<string> {
  return new Set((body.tools ?? []).filter((tool) => tool.async === true).map((tool) => asString(tool.name)));
}

export function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  return objectsIn(content)
    .map((part) => asString(part.text) + asString(part.refusal))
    .join('\n');
}

export function outputFormat(body: ResponsesBody): JsonObject {
  return asObject(body.text?.format);
}
