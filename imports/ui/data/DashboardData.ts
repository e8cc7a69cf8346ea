/**
 * The only access to a server: of the dashboard, and of the clients for React, Svelte, Vue, Blaze and plain pages. Each
 * host implements this port, as observable values and functions, so that everything above it is the same under Meteor
 * and plain Node, and in every framework.
 */
import type { AgentEventType } from '../../business/ai/domain/types/AgentEvents';
import type { Item } from '../../business/ai/domain/types/ResponsesAPITypes';
import type { RunDetailView, RunView, ToolCallView } from '../../business/ai/domain/types/RunViews';
import type { ReadonlyObservable } from './Observable';
import type { ArgumentOf, OperationName, ResultOf } from './operations';

/** The part of it that is needed before sign-in. */
export interface SessionData {
  readonly access: ReadonlyObservable<Access>;
  /** The notice shown on every page while responses are simulated; undefined when models write them. */
  readonly simulationNotice: ReadonlyObservable<string | undefined>;
  readonly commands: Pick<SessionCommands, 'signIn'>;
}

/** The part of it that runs and conversations need. */
export interface RunData {
  /** Undefined for a run that does not exist or belongs to another user, and without an id. */
  readonly run: (executionId: string | undefined) => ReadonlyObservable<Loaded<RunDetails | undefined>>;
  /** The runs of one of the user's conversations, newest first. */
  readonly conversationRuns: (conversationId: string) => ReadonlyObservable<Loaded<readonly RunView[]>>;
  /** Changes with every user who signs in, for whom queries are others. */
  readonly session: ReadonlyObservable<string>;
  /**
   * The result of an operation, for the current session. It is loaded again when one of its topics changes; until then,
   * and while it loads, the last value stays. Equal arguments share one load.
   * @param argument undefined as long as there is nothing to load; the value is `loading` then
   */
  readonly query: <N extends OperationName>(
    name: N,
    argument: ArgumentOf<N> | undefined,
    options?: QueryUse,
  ) => ReadonlyObservable<Loaded<ResultOf<N>>>;
  /** Carries out a command, after which the queries of its topics are loaded again. @throws DashboardError */
  readonly call: <N extends OperationName>(name: N, argument: ArgumentOf<N>) => Promise<ResultOf<N>>;
}

export interface DashboardData extends SessionData, RunData {
  /** Where the HTTP API is, such as `https://app.example.com/ai`. */
  readonly apiUrl: ReadonlyObservable<string>;
  readonly connection: ReadonlyObservable<Connection>;
  readonly commands: SessionCommands;
}

export interface QueryUse {
  /** The value stays current while the page is hidden. Default: it is loaded when the page is shown again. */
  readonly isBackground?: boolean;
}

/** Signing in and out, which differs between hosts. Each rejects with a `DashboardError`. */
export interface SessionCommands {
  readonly signIn: (credentials: Credentials) => Promise<void>;
  /** @param options `staysHere`: does not go on to the page that ends the session at an OpenID provider, too */
  readonly signOut: (options?: { readonly staysHere?: boolean }) => Promise<void>;
}

export type Loaded<T> =
  | { readonly state: 'loading' }
  | { readonly state: 'failed'; readonly error: { readonly code: string; readonly message: string }; retry(): void }
  | { readonly state: 'ready'; readonly value: T };

export type Access =
  | { readonly state: 'checking' }
  | { readonly state: 'signedOut'; readonly method: Credentials['method']; readonly openId?: OpenIdLink }
  | { readonly state: 'signedIn'; readonly name?: string };

/** An OpenID provider at which people sign in. */
export interface OpenIdLink {
  readonly name: string;
  readonly url: string;
  /** Whether this is the only way to sign in. */
  readonly isOnly: boolean;
}

export type Credentials =
  | {
      readonly method: 'token';
      readonly token: string;
      /** `false`: fails with the code `conflict` where somebody else is signed in. Default: true. */
      readonly replace?: boolean;
    }
  | { readonly method: 'password'; readonly login: string; readonly password: string };

export type Connection = 'connecting' | 'live' | 'lost';

/** Everything that a run's page shows. */
export interface RunDetails {
  readonly run: RunDetailView & {
    /** The start of a model call was seen, and its usage is not counted yet. */
    readonly isCallingModel?: boolean;
  };
  /** The conversation, starting with the input. */
  readonly items: readonly Item[];
  /** In the order in which the model requested them. */
  readonly calls: readonly ToolCallView[];
  readonly liveText: LiveText;
  /** The turns whose times are known, by number. */
  readonly turns: ReadonlyMap<number, TurnTime>;
  readonly log: readonly LogEntry[];
  /** By call id: the hash that an approval must carry, of calls that were seen to start to wait. */
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
  /** The turn that an event of the model belongs to. */
  readonly turn?: number;
  readonly name?: string;
  readonly detail?: string;
  /** The event itself, or the record that it is derived from. */
  readonly data?: unknown;
}

/** The code is the server's, or `not-found`, or `connection-failed`. */
export class DashboardError extends Error {
  readonly code: string;
  /** The invalid field of the argument, such as `limits.day.calls`. */
  readonly path: string | undefined;

  constructor(code: string, message: string, path?: string) {
    super(message);
    this.name = 'DashboardError';
    this.code = code;
    this.path = path;
  }
}
