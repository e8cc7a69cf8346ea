/** The parts of an Interactions request that the simulator reads, https://ai.google.dev/api/interactions-api. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { isArray, isObject, objectsIn } from '../../json';

export interface Step {
  readonly type: string;
  readonly content?: readonly JsonObject[];
  readonly id?: string;
  readonly call_id?: string;
  readonly name?: string;
  readonly arguments?: JsonObject;
  readonly result?: unknown;
  readonly is_error?: boolean;
  readonly signature?: string;
}

export interface InteractionsBody {
  readonly model?: string;
  readonly agent?: string;
  readonly input?: unknown;
  readonly system_instruction?: string;
  readonly tools?: readonly (JsonObject & { readonly type: string })[];
  readonly response_format?: JsonObject | readonly JsonObject[];
  readonly previous_interaction_id?: string;
  readonly store?: boolean;
  readonly background?: boolean;
  readonly generation_config?: {
    readonly max_output_tokens?: number;
    readonly thinking_summaries?: string;
    readonly tool_choice?:
      | string
      | { readonly allowed_tools?: { readonly mode?: string; readonly tools?: readonly string[] } };
  };
}

export function interactionsBody(body: JsonObject): InteractionsBody {
  return body;
}

/** The input has four forms: a text, a content, contents, steps. */
export function stepsOf({ input }: InteractionsBody): readonly Step[] {
  if (typeof input === 'string') return [{ type: 'user_input', content: [{ type: 'text', text: input }] }];
  const list = isArray(input) ? objectsIn(input) : isObject(input) ? [input] : [];
  // The cast is safe: the schema has been checked.
  if (list.some(({ type }) => STEPS.has(type))) return list as readonly unknown[] as readonly Step[];
  return list.length === 0 ? [] : [{ type: 'user_input', content: list }];
}

const STEPS: ReadonlySet<unknown> = new Set([
  'user_input',
  'model_output',
  'thought',
  'function_call',
  'function_result',
  'code_execution_call',
  'code_execution_result',
  'google_search_call',
  'google_search_result',
  'url_context_call',
  'url_context_result',
  'file_search_call',
  'file_search_result',
  'mcp_server_tool_call',
  'mcp_server_tool_result',
]);

export function jsonFormat({ response_format: format }: InteractionsBody): JsonObject | undefined {
  const formats = isArray(format) ? objectsIn(format) : isObject(format) ? [format] : [];
  return formats.find(({ type, mime_type: mime }) => type === 'text' && mime === 'application/json');
}

/** 2.5 for `gemini-2.5-flash`, 0 for names without a version. */
export function versionOf(model: string): number {
  return Number(/gemini-(\d+(?:\.\d+)?)/.exec(model)?.[1] ?? 0);
}
