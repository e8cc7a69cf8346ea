/** The parts of a Messages request that the simulator reads, https://docs.anthropic.com/en/api/messages. */
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { asString, objectsIn } from '../../json';

export type Block =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'thinking'; readonly thinking: string; readonly signature: string }
  | { readonly type: 'redacted_thinking'; readonly data: string }
  | { readonly type: 'tool_use'; readonly id: string; readonly name: string; readonly input: unknown }
  | {
      readonly type: 'tool_result';
      readonly tool_use_id: string;
      readonly content?: string | readonly JsonObject[];
      readonly is_error?: boolean;
    }
  | { readonly type: 'compaction'; readonly content?: string | null; readonly signature?: string | null }
  | { readonly type: 'server_tool_use'; readonly id: string; readonly name: string }
  | { readonly type: 'tool_addition' | 'tool_removal'; readonly tool: JsonObject }
  | { readonly type: 'image' | 'document'; readonly source?: unknown };

export interface Message {
  readonly role: 'user' | 'assistant' | 'system';
  readonly content: string | readonly Block[];
}

export interface AnthropicTool {
  readonly type?: string | null;
  readonly name: string;
  readonly description?: string;
  readonly input_schema?: JsonObject;
  readonly defer_loading?: boolean | null;
  readonly cache_control?: unknown;
}

export function isDeferred({ defer_loading }: AnthropicTool): boolean {
  return defer_loading === true;
}

export interface AnthropicBody {
  readonly max_tokens: number;
  readonly messages: readonly Message[];
  readonly system?: string | readonly JsonObject[] | null;
  readonly tools?: readonly AnthropicTool[] | null;
  readonly tool_choice?: {
    readonly type: 'auto' | 'any' | 'tool' | 'none';
    readonly name?: string;
    readonly disable_parallel_tool_use?: boolean;
  } | null;
  readonly thinking?: { readonly type: 'enabled' | 'adaptive' | 'disabled'; readonly budget_tokens?: number } | null;
  readonly output_config?: { readonly format?: { readonly schema?: JsonObject } | null } | null;
  readonly output_format?: { readonly schema?: JsonObject } | null;
  readonly compaction?: JsonObject | null;
  readonly context_management?: JsonObject | null;
  readonly temperature?: number | null;
  readonly top_p?: number | null;
  readonly top_k?: number | null;
}

/** A body that the wire's schema accepted. */
export function anthropicBody(body: JsonObject): AnthropicBody {
  // The cast is safe: the schema has been checked.
  return body as unknown as AnthropicBody;
}

/** A string is equivalent to one text block. */
export function blocksOf(message: Message): readonly Block[] {
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content;
}

export interface MergedMessage {
  readonly role: Message['role'];
  readonly blocks: readonly Block[];
  /** For each block, the index of its message and its index within it. */
  readonly positions: readonly (readonly [number, number])[];
}

/**
 * Merges consecutive messages of one role, as the vendor does ("consecutive user or assistant turns will be combined
 * into a single turn").
 */
export function mergedMessages(messages: readonly Message[]): readonly MergedMessage[] {
  const merged: { role: Message['role']; blocks: Block[]; positions: (readonly [number, number])[] }[] = [];
  for (const [index, message] of messages.entries()) {
    const blocks = blocksOf(message);
    const positions = blocks.map((_, at) => [index, at] as const);
    const last = merged.at(-1);
    if (last?.role === message.role) {
      last.blocks.push(...blocks);
      last.positions.push(...positions);
    } else merged.push({ role: message.role, blocks: [...blocks], positions });
  }
  return merged;
}

export function resultText(content: string | readonly JsonObject[] | undefined): string {
  return typeof content === 'string' ? content : textsIn(content);
}

export function textsIn(parts: unknown): string {
  return objectsIn(parts)
    .map((part) => asString(part.text))
    .join('\n');
}

export function outputSchema(body: AnthropicBody): JsonObject | undefined {
  return (body.output_config?.format ?? body.output_format)?.schema;
}

export function isThinkingEnabled(body: AnthropicBody): boolean {
  return body.thinking?.type === 'enabled' || body.thinking?.type === 'adaptive';
}
