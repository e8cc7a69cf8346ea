/**
 * The dashboard's only access to a server. Each host implements this port, as React hooks and commands, so that the
 * pages are the same under Meteor and plain Node.
 */
import type { AgentEventType } from '../../business/ai/domain/types/AgentEvents';
import type { LLMInput } from '../../business/ai/domain/types/LLMTypes';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { RunCountView, RunDetailView, RunView, ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { ToolCallState } from '../../business/ai/domain/entities/Tool';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';

export interface DashboardData {
  readonly useAccess: () => Access;
  /** The notice shown on every page while responses are simulated; undefined when models write them. */
  readonly useSimulationNotice: () => string | undefined;
  readonly useConnection: () => Connection;
  /** Newest first. */
  readonly useRuns: () => Loaded<readonly ListedRun[]>;
  /** Undefined for a run that does not exist or belongs to another user, and without an id. */
  readonly useRun: (executionId: string | undefined) => Loaded<RunDetails | undefined>;
  /** The runs of one of the user's conversations, newest first. */
  readonly useConversationRuns: (conversationId: string) => Loaded<readonly RunView[]>;
  readonly useTools: () => Loaded<readonly ToolSummary[]>;
  readonly useProviders: () => Loaded<readonly PublicProvider[]>;
  readonly useStatistics: () => Loaded<readonly RunCountView[]>;
  readonly commands: DashboardCommands;
}

/** Every command rejects with a `DashboardError`. */
export interface DashboardCommands {
  readonly signIn: (credentials: Credentials) => Promise<void>;
  readonly signOut: () => Promise<void>;
  readonly startRun: (request: StartRunRequest) => Promise<{ readonly executionId: string }>;
  readonly cancelRun: (executionId: string) => Promise<void>;
  readonly approve: (decision: ApprovalDecision) => Promise<void>;
  readonly reject: (decision: ApprovalDecision & { readonly reason?: string }) => Promise<void>;
  readonly submitToolResult: (submission: ToolResultSubmission) => Promise<void>;
  /** @returns the URL of the vendor's authorization page, if the vendor has one */
  readonly connectProvider: (providerId: string) => Promise<string | undefined>;
  readonly disconnectProvider: (providerId: string) => Promise<void>;
  /** @returns the outcome as a sentence for the page */
  readonly testProvider: (providerId: string) => Promise<string>;
}

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: { readonly code: string; readonly message: string }; retry(): void }
  | { readonly state: 'ready'; readonly value: T };

export type Access =
  | { readonly state: 'checking' }
  | { readonly state: 'signedOut'; readonly method: Credentials['method'] }
  | { readonly state: 'signedIn'; readonly name?: string };

export type Credentials =
  | { readonly method: 'token'; readonly token: string }
  | { readonly method: 'password'; readonly login: string; readonly password: string };

export type Connection = 'connecting' | 'live' | 'lost';

/** A run in the list: its record, and what events have added since. */
export interface ListedRun extends RunView {
  /** Ids of the calls that wait for approval. */
  readonly awaitingApproval: readonly string[];
  /** The start of a model call was seen, and its usage is not counted yet. */
  readonly isCallingModel?: boolean;
}

/** Everything that a run's page shows. */
export interface RunDetails {
  readonly run: RunDetailView & Pick<ListedRun, 'isCallingModel'>;
  /** The conversation, starting with the input. */
  readonly items: readonly Item[];
  /** In the order in which the model requested them. */
  readonly calls: readonly ToolCallView[];
  readonly liveText: LiveText;
  /** The turns whose times are known, by number. */
  readonly turns: ReadonlyMap<number, TurnTime>;
  readonly log: readonly LogEntry[];
  /** By call id: the hash that an approval of the shown arguments must carry. */
  readonly argumentHashes: ReadonlyMap<string, string>;
}

/** What the model has streamed and not finished. */
export interface LiveText {
  readonly text: string;
  readonly reasoning: string;
}

/** Milliseconds since the epoch. */
export interface TurnTime {
  readonly start: number;
  readonly end?: number;
}

export interface LogEntry {
  /** The event's sequence number; absent for entries that are derived from records. */
  readonly seq?: number;
  readonly at: number;
  readonly type: AgentEventType;
  readonly callId?: string;
  readonly name?: string;
  readonly detail?: string;
}

export interface ToolSummary {
  readonly name: string;
  readonly description: string;
  readonly blocking: boolean;
  readonly needsApproval: boolean;
  readonly external: boolean;
  /** Calls so far, by state. */
  readonly counts: { readonly [S in ToolCallState]?: number };
}

export interface StartRunRequest {
  /** Generated by the client. A repeated id is the same request. */
  readonly requestId: string;
  readonly providerId: string;
  /** Absent in a request that repeats a run. */
  readonly input?: LLMInput;
  readonly tools: readonly string[];
  readonly model?: string;
  readonly instructions?: string;
  readonly temperature?: number;
  readonly maxOutputTokens?: number;
  readonly maxIterations?: number;
  readonly conversationId?: string;
  /** An ended run whose conversation comes before the input. */
  readonly continues?: string;
  /** An ended run whose input is used again. */
  readonly repeats?: string;
}

export interface ApprovalDecision {
  readonly executionId: string;
  readonly callId: string;
  readonly argumentsHash: string;
}

export interface ToolResultSubmission {
  readonly executionId: string;
  readonly callId: string;
  readonly outcome: { readonly output: unknown } | { readonly error: string };
}

/** The code is the server's, or `not-found`, or `connection-failed`. */
export class DashboardError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'DashboardError';
    this.code = code;
  }
}
