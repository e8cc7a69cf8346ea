/** What an AG-UI 1.0 client sends: messages, tools and the rest of `RunAgentInput`. https://docs.ag-ui.com/concepts/messages */

/** Open by key; an event's is merged into the message that it builds. */
export type AgUiMetadata = Readonly<Record<string, unknown>>;

export type AgUiPartSource =
  | { readonly type: 'data'; /** Base64. */ readonly value: string; readonly mimeType: string }
  | { readonly type: 'url'; readonly value: string; readonly mimeType?: string }
  /** A file that was uploaded to a vendor. */
  | { readonly type: 'file'; readonly value: string; readonly provider?: string; readonly mimeType?: string };

export type AgUiContentPart =
  | { readonly type: 'text'; readonly text: string }
  | { readonly type: 'image' | 'audio' | 'video' | 'document'; readonly source: AgUiPartSource };

export interface AgUiToolCall {
  readonly id: string;
  readonly type: 'function';
  readonly function: { readonly name: string; /** JSON text. */ readonly arguments: string };
}

interface Identified {
  readonly id: string;
  readonly metadata?: AgUiMetadata;
  /** The subagent whose message it is. Absent: the agent's own, or the user's. */
  readonly subagentRunId?: string;
}

export type AgUiMessage = Identified &
  (
    | { readonly role: 'developer' | 'system' | 'reasoning'; readonly content: string }
    | { readonly role: 'user'; readonly content: string | AgUiContentPart[] }
    | { readonly role: 'assistant'; readonly content?: string; readonly toolCalls?: AgUiToolCall[] }
    | { readonly role: 'tool'; readonly content: string | AgUiContentPart[]; readonly toolCallId: string }
    /** The client's own display state; never sent to a model. */
    | { readonly role: 'activity'; readonly activityType: string; readonly content: Readonly<Record<string, unknown>> }
  );

/** A tool that the front end executes. */
export interface AgUiTool {
  readonly name: string;
  readonly description: string;
  /** JSON Schema. */
  readonly parameters?: Readonly<Record<string, unknown>>;
}

/** An answer to an interrupt of an earlier run. */
export interface AgUiResumeEntry {
  readonly interruptId: string;
  readonly status: 'resolved' | 'cancelled';
  readonly payload?: unknown;
}

export interface RunAgentInput {
  readonly threadId: string;
  readonly runId: string;
  readonly parentRunId?: string;
  readonly state?: unknown;
  readonly messages: readonly AgUiMessage[];
  readonly tools: readonly AgUiTool[];
  readonly context: readonly { readonly description: string; readonly value: string }[];
  readonly forwardedProps: Readonly<Record<string, unknown>>;
  readonly resume: readonly AgUiResumeEntry[];
}
