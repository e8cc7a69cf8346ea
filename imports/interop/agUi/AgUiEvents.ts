/**
 * The events of AG-UI 1.0 that the encoder writes. Declared here, so that Bolide does not depend on `@ag-ui/core`; a
 * test compares them with its types and schemas. https://docs.ag-ui.com/concepts/events
 */
import type { AgUiMessage, AgUiMetadata } from './AgUiMessages';

interface Common {
  /** Milliseconds since the epoch. */
  readonly timestamp?: number;
  readonly metadata?: AgUiMetadata;
}

/** Reasoning tokens are part of the output, cached and cache-written ones are part of the input. */
export interface AgUiTokenUsage {
  readonly provider?: string;
  readonly model?: string;
  readonly inputTokens?: number;
  readonly outputTokens?: number;
  readonly totalTokens?: number;
  readonly reasoningTokens?: number;
  readonly cachedInputTokens?: number;
  readonly cacheWriteInputTokens?: number;
}

/** https://docs.ag-ui.com/concepts/interrupts */
export interface AgUiInterrupt {
  readonly id: string;
  /** `tool_call`, or a name of Bolide's own with the prefix `bolide:`. */
  readonly reason: string;
  readonly message?: string;
  readonly toolCallId?: string;
  /** JSON Schema of the `payload` that a resume entry must carry. */
  readonly responseSchema?: Readonly<Record<string, unknown>>;
  readonly metadata?: AgUiMetadata;
}

export type AgUiOutcome =
  | { readonly type: 'success'; readonly pendingToolCallIds?: string[] }
  | { readonly type: 'interrupt'; readonly interrupts: AgUiInterrupt[] }
  | { readonly type: 'cancelled' };

/** RFC 6902. */
export type JsonPatchOperation =
  | { readonly op: 'add' | 'replace'; readonly path: string; readonly value: unknown }
  | { readonly op: 'remove'; readonly path: string };

interface Run {
  readonly threadId: string;
  readonly runId: string;
}

/** What belongs to a subagent names its run. */
interface Attributable {
  readonly subagentRunId?: string;
}

interface Named extends Attributable {
  readonly messageId: string;
}

interface OfCall extends Attributable {
  readonly toolCallId: string;
}

interface Subagent {
  readonly subagentRunId: string;
}

type Body =
  | (Run & { readonly type: 'RUN_STARTED'; readonly protocolVersion?: string; readonly parentRunId?: string })
  | (Run & {
      readonly type: 'RUN_FINISHED';
      readonly result?: unknown;
      readonly outcome?: AgUiOutcome;
      readonly usage?: AgUiTokenUsage[];
    })
  | {
      readonly type: 'RUN_ERROR';
      readonly message: string;
      readonly code?: string;
      readonly usage?: AgUiTokenUsage[];
    }
  | { readonly type: 'STEP_STARTED' | 'STEP_FINISHED'; readonly stepName: string }
  | (Named & { readonly type: 'TEXT_MESSAGE_START'; readonly role: 'assistant' | 'user' })
  | (Named & { readonly type: 'TEXT_MESSAGE_CONTENT'; readonly delta: string })
  | (Named & { readonly type: 'TEXT_MESSAGE_END' })
  | (Named & { readonly type: 'REASONING_START' | 'REASONING_END' | 'REASONING_MESSAGE_END' })
  | (Named & { readonly type: 'REASONING_MESSAGE_START'; readonly role: 'reasoning' })
  | (Named & { readonly type: 'REASONING_MESSAGE_CONTENT'; readonly delta: string })
  | (OfCall & { readonly type: 'TOOL_CALL_START'; readonly toolCallName: string; readonly parentMessageId?: string })
  | (OfCall & { readonly type: 'TOOL_CALL_ARGS'; readonly delta: string })
  | (OfCall & { readonly type: 'TOOL_CALL_END' })
  | (Named & {
      readonly type: 'TOOL_CALL_RESULT';
      readonly toolCallId: string;
      readonly content: string;
      readonly role: 'tool';
    })
  | (Subagent & {
      readonly type: 'SUBAGENT_STARTED';
      readonly name: string;
      readonly parentToolCallId?: string;
      readonly parentSubagentRunId?: string;
    })
  | (Subagent & {
      readonly type: 'SUBAGENT_FINISHED';
      readonly result?: unknown;
      readonly outcome?: { readonly type: 'success' } | { readonly type: 'suspended' };
    })
  | (Subagent & { readonly type: 'SUBAGENT_ERROR'; readonly message: string; readonly code?: string })
  | { readonly type: 'STATE_SNAPSHOT'; readonly snapshot: unknown }
  | { readonly type: 'STATE_DELTA'; readonly delta: JsonPatchOperation[] }
  | { readonly type: 'MESSAGES_SNAPSHOT'; readonly messages: AgUiMessage[] }
  | { readonly type: 'CUSTOM'; readonly name: string; readonly value: unknown };

export type AgUiEvent = Common & Body;
