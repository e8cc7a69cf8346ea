/** One chunk of a chat completion, the form in which the loop's side of every stream is told. */
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/**
 * https://platform.openai.com/docs/api-reference/chat-streaming/streaming, with room for fields that a vendor
 * added.
 */
export interface OpenAIChunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
  readonly choices: readonly ChunkChoice[];
  /** On the last chunk only, beside no choices. */
  readonly usage?: JsonObject | null;
  readonly [field: string]: unknown;
}

export interface ChunkChoice {
  readonly index: number;
  readonly delta: ChunkDelta;
  readonly finish_reason: string | null;
  readonly [field: string]: unknown;
}

export interface ChunkDelta {
  readonly role?: 'assistant';
  readonly content?: string | null;
  readonly refusal?: string | null;
  /** Where DeepSeek's clients look for the model's reasoning, and most others' do. */
  readonly reasoning_content?: string;
  /** Where Groq's do. */
  readonly reasoning?: string;
  /** Whole calls: one per chunk, its arguments complete. */
  readonly tool_calls?: readonly ChunkToolCall[];
  readonly [field: string]: unknown;
}

export interface ChunkToolCall {
  readonly index: number;
  readonly id: string;
  readonly type: 'function' | 'custom';
  readonly function?: { readonly name: string; readonly arguments: string };
  readonly [field: string]: unknown;
}
