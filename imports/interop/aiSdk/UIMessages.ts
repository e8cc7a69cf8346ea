/**
 * The AI SDK's UI messages and the chunks of their stream, as far as Bolide writes and reads them. Assignable to the
 * types of `ai` 7. https://ai-sdk.dev/docs/ai-sdk-ui/stream-protocol
 */
import type { CallOfRun } from '../../business/ai/domain/types/AgentEvents';
import type { JsonObject } from '../../business/ai/domain/types/VendorTypes';

export type JSONValue = null | string | number | boolean | JSONValue[] | { [key: string]: JSONValue | undefined };
/** By provider name. Bolide's own entries are below `bolide`. */
export type ProviderMetadata = Record<string, Record<string, JSONValue | undefined>>;

export interface UIMessage {
  id: string;
  role: 'system' | 'user' | 'assistant';
  metadata?: unknown;
  parts: UIMessagePart[];
}

export type UIMessagePart =
  | TextPart
  | ReasoningPart
  | ToolPart
  | SourceUrlPart
  | FilePart
  | CustomPart
  | DataPart
  | SteeringPart
  | { type: 'step-start' };

export interface TextPart {
  type: 'text';
  text: string;
  state?: 'streaming' | 'done';
}

export interface ReasoningPart {
  type: 'reasoning';
  id?: string;
  text: string;
  state?: 'streaming' | 'done';
}

export interface SourceUrlPart {
  type: 'source-url';
  sourceId: string;
  url: string;
  title?: string;
}

export interface FilePart {
  type: 'file';
  mediaType: string;
  url: string;
  filename?: string;
}

/** `kind` is `provider.type`. */
export interface CustomPart {
  type: 'custom';
  kind: `${string}.${string}`;
  providerMetadata?: ProviderMetadata;
}

/** A message that was sent to the run while it answered, before the step that received it. */
export interface SteeringPart {
  type: 'steering-message';
  id: string;
  parts: UserPart[];
}

export type UserPart = TextPart | FilePart;

export interface DataPart {
  type: `data-${string}`;
  id?: string;
  data: unknown;
}

export interface ToolApproval {
  id: string;
  approved?: boolean;
  reason?: string;
  requestReason?: string;
}

export type ToolPartState =
  | 'input-available'
  | 'approval-requested'
  | 'approval-responded'
  | 'output-available'
  | 'output-error'
  | 'output-denied';

/** `type` is `tool-` and the tool's name. */
export interface ToolPart {
  type: `tool-${string}`;
  toolCallId: string;
  state: ToolPartState;
  input: unknown;
  output?: unknown;
  /** The output is followed by another one. */
  preliminary?: boolean;
  errorText?: string;
  approval?: ToolApproval;
  callProviderMetadata?: ProviderMetadata;
}

export type UIMessageChunk =
  | { type: 'start'; messageId?: string; messageMetadata?: unknown }
  | { type: 'start-step' }
  | { type: 'finish-step' }
  /** Removes all parts of the current step. */
  | { type: 'reset-step' }
  | { type: 'text-start' | 'text-end' | 'reasoning-start' | 'reasoning-end'; id: string }
  | { type: 'text-delta' | 'reasoning-delta'; id: string; delta: string }
  | { type: 'tool-input-start'; toolCallId: string; toolName: string }
  | { type: 'tool-input-delta'; toolCallId: string; inputTextDelta: string }
  | {
      type: 'tool-input-available';
      toolCallId: string;
      toolName: string;
      input: unknown;
      providerMetadata?: ProviderMetadata;
    }
  | { type: 'tool-approval-request'; approvalId: string; toolCallId: string; reason?: string }
  | { type: 'tool-approval-response'; approvalId: string; approved: boolean; reason?: string }
  | { type: 'tool-output-available'; toolCallId: string; output: unknown; preliminary?: boolean }
  | { type: 'tool-output-error'; toolCallId: string; errorText: string }
  | { type: 'tool-output-denied'; toolCallId: string }
  | { type: 'source-url'; sourceId: string; url: string; title?: string }
  | { type: 'file'; url: string; mediaType: string }
  | { type: 'custom'; kind: `${string}.${string}`; providerMetadata?: ProviderMetadata }
  | SteeringPart
  | { type: `data-${string}`; id?: string; data: unknown; transient?: boolean }
  | { type: 'message-metadata'; messageMetadata: unknown }
  | { type: 'error'; errorText: string }
  | { type: 'abort'; reason?: string }
  | { type: 'finish'; finishReason?: FinishReason; messageMetadata?: unknown };

export type FinishReason = 'stop' | 'length' | 'content-filter' | 'tool-calls' | 'error' | 'other';

/** The metadata of an assistant message. */
export interface MessageMetadata {
  /** The run that the message is the output of. It is also the message's id. */
  readonly executionId?: string;
  readonly model?: string;
  /** The usage of all model calls of the run. Present once it has ended. */
  readonly usage?: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
    readonly cachedInputTokens: number;
    readonly reasoningTokens: number;
  };
  /** Model calls. */
  readonly iterations?: number;
  /** Earlier parts of a message within a message are left out. */
  readonly isShortened?: boolean;
}

/** The data of `data-tool-progress` parts, whose id is the call's. */
export interface ToolProgressData {
  readonly toolCallId: string;
  readonly toolName: string;
  /** From 0 to 1. */
  readonly fraction: number;
  readonly note?: string;
}

/** The data of `data-tool-result` parts: a non-blocking call has settled after the model went on without it. */
export interface ToolResultData {
  readonly toolCallId: string;
  readonly toolName: string;
  readonly state: string;
}

/** The `kind` of the custom part that holds a step's output items where its other parts don't represent all of them. */
export const OUTPUT_PART = 'bolide.output';

/** The call that a tool part asks a person about, if that is no call of the message's model. */
export function callIn(providerMetadata: unknown): CallOfRun | undefined {
  const { bolide } = (providerMetadata ?? {}) as { readonly bolide?: Partial<Record<keyof CallOfRun, unknown>> };
  const { executionId, callId } = bolide ?? {};
  return typeof executionId === 'string' && typeof callId === 'string' ? { executionId, callId } : undefined;
}

/** The items of a custom part, or undefined if it holds none. */
export function itemsIn(providerMetadata: unknown): readonly JsonObject[] | undefined {
  const { bolide } = (providerMetadata ?? {}) as { readonly bolide?: { readonly output?: unknown } };
  return Array.isArray(bolide?.output) ? (bolide.output as JsonObject[]) : undefined;
}
