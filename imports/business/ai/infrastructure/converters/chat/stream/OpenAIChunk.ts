/** One chunk of a chat completion; the agentic loop reads every stream in this form. */
import type { JsonObject } from '../../../../domain/types/VendorTypes';

/** https://platform.openai.com/docs/api-reference/chat-streaming/streaming, plus any fields that a vendor adds. */
export interface OpenAIChunk {
  readonly id: string;
  readonly object: 'chat.completion.chunk';
  /** Seconds since the epoch. */
  readonly created: number;
  readonly model: string;
  readonly choices: readonly ChunkChoice[];
  /** Only on the last chunk, whose `choices` are empty. */
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
  /** The model's reasoning, as DeepSeek and most other vendors name it. */
  readonly reasoning_content?: string;
  /** The model's reasoning, as Groq names it. */
  readonly reasoning?: string;
  /** Complete calls: one per chunk, or all of them in the chunk with the finish reason. */
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
