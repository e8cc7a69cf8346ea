/** A conversation as messages for people: what a user wrote, and everything that the model did until the next one. */
import type { ToolCallState } from '../../business/ai/domain/entities/Tool';

export interface ConversationMessage {
  /** Stays the same while the message grows. */
  readonly id: string;
  readonly role: 'user' | 'assistant' | 'system';
  readonly parts: readonly MessagePart[];
}

export type MessagePart = TextPart | AttachmentPart | ToolPart;

export interface TextPart {
  readonly type: 'text' | 'reasoning';
  readonly text: string;
  /** The model is still writing it. */
  readonly isStreaming: boolean;
}

export interface AttachmentPart {
  readonly type: 'attachment';
  readonly kind: 'image' | 'file';
  /** An http(s) URL or a data URI, if there is one. */
  readonly url?: string;
  readonly filename?: string;
}

/** A tool call with its live state. */
export interface ToolPart {
  readonly type: 'tool';
  /** Unique within its run. Names the call in `approve`, `reject` and `submitResult`. */
  readonly callId: string;
  readonly name: string;
  /** JSON text, as the model wrote it. */
  readonly arguments: string;
  /** `awaiting_approval` and `needs_review` wait for a person. */
  readonly state: ToolCallState;
  /** The model did not wait for the result, which arrives later. */
  readonly blocking: boolean;
  /** From 0 to 1. */
  readonly progress?: number;
  readonly note?: string;
  /** The text that the model receives. */
  readonly result?: string;
  readonly error?: string;
}
