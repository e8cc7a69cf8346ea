/**
 * The parts of a Chat Completions request that the simulator reads,
 * https://platform.openai.com/docs/api-reference/chat/create.
 */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { asString, objectsIn } from '../../json';

export interface ChatToolCall {
  readonly id: string;
  readonly type?: string;
  readonly function?: { readonly name: string; readonly arguments?: string };
  readonly custom?: { readonly name: string; readonly input: string };
}

export interface ChatMessage {
  readonly role: 'system' | 'developer' | 'user' | 'assistant' | 'tool' | 'function';
  readonly content?: string | readonly JsonObject[] | null;
  readonly tool_calls?: readonly ChatToolCall[] | null;
  readonly tool_call_id?: string;
  readonly refusal?: string | null;
  readonly function_call?: unknown;
  readonly audio?: unknown;
}

export interface ChatTool {
  readonly type: string;
  readonly function?: {
    readonly name: string;
    readonly description?: string | null;
    readonly parameters?: JsonObject | null;
    readonly strict?: boolean | null;
  };
}

export interface ChatBody {
  readonly messages: readonly ChatMessage[];
  readonly tools?: readonly ChatTool[] | null;
  readonly tool_choice?: string | JsonObject | null;
  readonly parallel_tool_calls?: boolean | null;
  readonly response_format?: {
    readonly type: string;
    readonly json_schema?: {
      readonly name: string;
      readonly schema?: JsonObject | null;
      readonly strict?: boolean | null;
    };
  } | null;
  readonly max_tokens?: number | null;
  readonly max_completion_tokens?: number | null;
  readonly temperature?: number | null;
  readonly stop?: unknown;
  readonly reasoning_effort?: string | null;
  readonly reasoning_format?: string | null;
  readonly include_reasoning?: boolean | null;
  readonly stream_options?: { readonly include_usage?: boolean } | null;
}

/** A body that the wire's schema accepted. */
export function chatBody(body: JsonObject): ChatBody {
  // The cast is safe: the schema has been checked.
  return body as unknown as ChatBody;
}

export function textOf(message: ChatMessage): string {
  if (typeof message.content === 'string') return message.content;
  return objectsIn(message.content)
    .map((part) => asString(part.text) + asString(part.refusal))
    .join('');
}
