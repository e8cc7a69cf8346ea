/**
 * Everything that the dashboard asks of a server: one small port, so that its pages are the same on every host.
 * Sources implement it as hooks.
 */
import type { AgentEventType } from '../../business/ai/domain/types/AgentEvents';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { RunCountView, RunDetailView, RunView, ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { ToolCallState } from '../../business/ai/domain/entities/Tool';
import type { PublicProvider } from '../../business/providers/domain/entities/PublicProvider';

export interface DashboardData {
  readonly useAccess: () => Access;
  /** What is told on every page when answers are made up; undefined when models write them. */
  readonly useSimulationNotice: () => string | undefined;
  readonly useConnection: () => Connection;
  /** Newest first. */
  readonly useRuns: () => Loaded<readonly ListedRun[]>;
  /** Undefined for a run that is not there, or not the reader's. */
  readonly useRun: (executionId: string) => Loaded<WatchedRun | undefined>;
  readonly useTools: () => Loaded<readonly ToolOffer[]>;
  readonly useProviders: () => Loaded<readonly PublicProvider[]>;
  readonly useStatistics: () => Loaded<readonly RunCountView[]>;
  readonly commands: DashboardCommands;
}

/** Each rejects with a `DashboardError`. */
export interface DashboardCommands {
  readonly signIn: (credentials: Credentials) => Promise<void>;
  readonly signOut: () => Promise<void>;
  readonly startRun: (request: StartRequest) => Promise<{ readonly executionId: string }>;
  readonly cancelRun: (executionId: string) => Promise<void>;
  readonly approve: (decision: Decision) => Promise<void>;
  readonly reject: (decision: Decision & { readonly reason: string }) => Promise<void>;
  readonly submitToolResult: (settlement: Settlement) => Promise<void>;
  /** @returns the page to open, where the vendor has one */
  readonly connectProvider: (providerId: string) => Promise<string | undefined>;
  readonly disconnectProvider: (providerId: string) => Promise<void>;
  /** @returns what came of it, in a sentence */
  readonly testProvider: (providerId: string) => Promise<string>;
}

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: { readonly code: string; readonly message: string }; retry(): void }
  | { readonly state: 'ready'; readonly value: T };

export type Access =
  | { readonly state: 'asking' }
  | { readonly state: 'signedOut'; readonly means: Credentials['means'] }
  | { readonly state: 'signedIn'; readonly name?: string };

export type Credentials =
  | { readonly means: 'token'; readonly token: string }
  | { readonly means: 'password'; readonly login: string; readonly password: string };

export type Connection = 'connecting' | 'live' | 'lost';

/** A run in the list, with what events told beyond its record. */
export interface ListedRun extends RunView {
  /** Ids of calls that wait for somebody's decision. */
  readonly asking: readonly string[];
  /** A model call was seen to begin; its answer is in none of the counts yet. */
  readonly isCalling?: boolean;
}

/** All that a run's page shows. */
export interface WatchedRun {
  readonly run: RunDetailView & Pick<ListedRun, 'isCalling'>;
  /** The conversation, input first. */
  readonly items: readonly Item[];
  /** In the order in which the model asked for them. */
  readonly calls: readonly ToolCallView[];
  /** What the model says right now and has not finished. */
  readonly live: { readonly text: string; readonly reasoning: string };
  /** Model calls whose time is known, by their number. */
  readonly turns: ReadonlyMap<number, TurnTime>;
  readonly log: readonly LogEntry[];
  /** By call id: what an approval of the shown arguments must name. */
  readonly hashes: ReadonlyMap<string, string>;
}

/** Milliseconds since the epoch. */
export interface TurnTime {
  readonly start: number;
  readonly end?: number;
}

export interface LogEntry {
  /** Of the event; absent where a record proves what no event told. */
  readonly seq?: number;
  readonly at: number;
  readonly type: AgentEventType;
  readonly callId?: string;
  readonly name?: string;
  readonly detail?: string;
}

export interface ToolOffer {
  readonly name: string;
  readonly description: string;
  readonly blocking: boolean;
  readonly needsApproval: boolean;
  readonly external: boolean;
  /** Calls so far. */
  readonly counts: { readonly [S in ToolCallState]?: number };
}

export interface StartRequest {
  /** Made by the client: the same id is the same request. */
  readonly requestId: string;
  readonly providerId: string;
  readonly input: string;
  readonly tools: readonly string[];
  readonly model?: string;
  readonly instructions?: string;
  readonly maxIterations?: number;
}

export interface Decision {
  readonly executionId: string;
  readonly callId: string;
  readonly argumentsHash: string;
}

export interface Settlement {
  readonly executionId: string;
  readonly callId: string;
  readonly outcome: { readonly output: string } | { readonly error: string };
}

/** The code is the server's, `not-found`, or `connection-failed`. */
export class DashboardError extends Error {
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.name = 'DashboardError';
    this.code = code;
  }
}
