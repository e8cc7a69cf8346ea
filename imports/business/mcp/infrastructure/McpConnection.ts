/**
 * The connection to one server: opened when it is first needed, opened again with growing pauses after it was lost, and
 * closed to calls for a while when the server keeps failing.
 */
import type { Client } from '@modelcontextprotocol/client';
import { isLLMError, LLMConnectionError } from '../../ai/domain/errors/LLMErrors';
import { FailuresInARow } from '../../ai/domain/util/FailuresInARow';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import { SignInRequiredError } from './McpOAuth';
import type { McpClientEvents, OpenMcpClient } from './openMcpClient';

export interface McpHealth {
  readonly state: 'idle' | 'connecting' | 'connected' | 'unreachable' | 'closed';
  /** When the connection was made, or else when the first of the failures was: milliseconds since the epoch. */
  readonly since?: number;
  /** Consecutive failures to connect, or of requests. */
  readonly failures: number;
  /** Why it failed last. */
  readonly error?: string;
  /** It failed last because nobody has signed in, or the server does not take the account any more. */
  readonly needsSignIn?: true;
  /** When the next attempt may be made, in milliseconds since the epoch. */
  readonly retryAt?: number;
  readonly server?: { readonly name: string; readonly version: string };
  /** The negotiated revision of the protocol: `2025-11-25`. */
  readonly protocolVersion?: string;
}

export interface McpConnectionOptions {
  readonly name: string;
  readonly open: (events: McpClientEvents) => Promise<OpenMcpClient>;
  readonly logger: Logger;
  /** The tools may have changed: the server says so, or it was connected again. */
  readonly onChange: () => void;
  /** The server asks a person. */
  readonly onElicit: McpClientEvents['elicit'];
  /** Milliseconds; doubled after each failure. */
  readonly retryDelay?: number | undefined;
}

const RETRY_DELAY_MS = 1_000;
const MAX_RETRY_DELAY_MS = 60_000;
/**
 * Consecutive failures of requests on an open connection, after which calls fail at once for a while: those of the user
 * whose calls alone have failed, or all.
 */
const MAX_FAILURES = 5;

/** Milliseconds. A connection that was lost sooner counts as a failure to connect. */
const STABLE_MS = 60_000;

const SIGN_IN = 'somebody has to sign in';

/** What another attempt would not change. */
const UNSOLVABLE: readonly string[] = ['missing-package', 'unsupported-feature'];

interface Session extends OpenMcpClient {
  /** By `performance.now()`. */
  readonly openedAt: number;
  /** Milliseconds since the epoch. */
  readonly connectedAt: number;
  /** Requests in progress. */
  users: number;
  isRetired: boolean;
}

/** One user's calls fail at once. */
interface UserPause {
  failures: number;
  /** Milliseconds since the epoch. */
  until: number;
}

export class McpConnection {
  private readonly options: McpConnectionOptions;
  private session: Session | undefined;
  private opening: Promise<Session> | undefined;
  private failures = 0;
  /** Milliseconds since the epoch. */
  private failingSince = 0;
  /** Consecutive connections that were lost soon. */
  private shortSessions = 0;
  private error: string | undefined;
  private retryAt = 0;
  /** What users' calls have failed in a row. */
  private readonly callFailures = new FailuresInARow(MAX_FAILURES);
  /** By user. */
  private readonly userPauses = new Map<string, UserPause>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private isClosed = false;

  constructor(options: McpConnectionOptions) {
    this.options = options;
  }

  get health(): McpHealth {
    const { session, failures, error, retryAt } = this;
    const client = session?.client;
    const server = client?.getServerVersion();
    const protocolVersion = client?.getNegotiatedProtocolVersion();
    const since = failures > 0 ? this.failingSince : session?.connectedAt;
    return omitUndefined({
      state: this.state,
      since,
      failures,
      error: error === undefined || failures === 0 ? undefined : error,
      needsSignIn: error === SIGN_IN && failures > 0 ? true : undefined,
      retryAt: retryAt > Date.now() ? retryAt : undefined,
      server: server && { name: server.name, version: server.version },
      protocolVersion,
    });
  }

  private get state(): McpHealth['state'] {
    if (this.isClosed) return 'closed';
    if (this.opening !== undefined) return 'connecting';
    if (this.failures >= MAX_FAILURES || (this.session === undefined && this.failures > 0)) return 'unreachable';
    return this.session === undefined ? 'idle' : 'connected';
  }

  /**
   * Runs requests on the connection, which is opened if need be. A request that the server has refused because it has
   * forgotten the session is made again in a new one.
   * @param userId whose call makes them. Default: nobody's
   * @throws LLMConnectionError while the server cannot be reached, and what the requests throw
   */
  async use<Result>(requests: (client: Client) => Promise<Result>, userId?: string): Promise<Result> {
    for (let attempt = 1; ; attempt += 1) {
      if (userId !== undefined) this.admit(userId);
      const session = await this.connect();
      session.users += 1;
      try {
        const result = await requests(session.client);
        this.failures = 0;
        this.callFailures.clear();
        this.userPauses.clear();
        return result;
      } catch (error) {
        if (isForgotten(error) && attempt === 1) {
          this.retire(session);
          continue;
        }
        if (isUnauthorized(error)) throw this.unavailable(SIGN_IN, error);
        this.onFailure(session, error, userId);
        throw error;
      } finally {
        session.users -= 1;
        if (session.isRetired) this.closeUnused(session);
      }
    }
  }

  /** What kept it from being connected is over. */
  retry(): void {
    this.failures = 0;
    this.retryAt = 0;
    this.options.onChange();
  }

  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    // A failure to open was reported to the caller that opened it.
    await this.opening?.catch(() => undefined);
    const { session } = this;
    this.session = undefined;
    await session?.close();
  }

  /** @throws LLMConnectionError while the user's own calls keep failing, except for one after each pause */
  private admit(userId: string): void {
    const pause = this.userPauses.get(userId);
    if (pause === undefined) return;
    this.assertOver(pause.until);
    pause.until = this.nextAttempt(pause.failures);
  }

  /** @throws LLMConnectionError until a time in milliseconds since the epoch */
  private assertOver(until: number): void {
    const pauseMs = until - Date.now();
    if (pauseMs > 0)
      throw this.unavailable(`${this.error ?? 'it failed'}; the next attempt is in ${Math.ceil(pauseMs / 1_000)} s`);
  }

  private async connect(): Promise<Session> {
    if (this.isClosed) throw this.unavailable('the source is closed');
    this.assertOver(this.retryAt);
    // One probe at a time.
    if (this.failures >= MAX_FAILURES) this.pause();
    if (this.session !== undefined) return this.session;
    this.opening ??= this.open().finally(() => {
      this.opening = undefined;
    });
    return this.opening;
  }

  private async open(): Promise<Session> {
    const lost = new AbortController();
    const events: McpClientEvents = {
      toolsChanged: () => this.options.onChange(),
      elicit: (client, params) => this.options.onElicit(client, params),
      lost: () => lost.abort(),
    };
    const hadFailed = this.failures > 0;
    let opened: Session;
    try {
      const client = await this.options.open(events);
      opened = { ...client, openedAt: performance.now(), connectedAt: Date.now(), users: 0, isRetired: false };
    } catch (error) {
      if (isLLMError(error) && UNSOLVABLE.includes(error.code)) throw error;
      // Nobody is asked to sign in by attempts that nobody has made.
      if (isUnauthorized(error)) {
        // One that is signed in later is not made to wait for it.
        if (this.failures === 0) this.countFailure();
        this.error = SIGN_IN;
        throw this.unavailable(SIGN_IN, error);
      }
      this.countFailure();
      this.error = reasonOf(error);
      this.pause();
      this.scheduleAttempt();
      this.options.logger.warn(`The MCP server "${this.options.name}" cannot be reached: ${this.error}`);
      throw this.unavailable(this.error, error);
    }
    if (this.isClosed) {
      await opened.close();
      throw this.unavailable('the source is closed');
    }
    this.session = opened;
    this.failures = 0;
    this.retryAt = 0;
    if (hadFailed) this.options.onChange();
    const lose = (): void => this.lose(opened);
    if (lost.signal.aborted) lose();
    else lost.signal.addEventListener('abort', lose);
    return opened;
  }

  private countFailure(): void {
    if (this.failures === 0) this.failingSince = Date.now();
    this.failures += 1;
  }

  /** Requests in progress may still end. */
  private retire(session: Session): void {
    if (this.session === session) this.session = undefined;
    session.isRetired = true;
  }

  private lose(session: Session): void {
    if (session.isRetired || this.isClosed) return;
    this.retire(session);
    this.closeUnused(session);
    this.countFailure();
    this.error = 'the connection was lost';
    this.shortSessions = performance.now() - session.openedAt < STABLE_MS ? this.shortSessions + 1 : 0;
    if (this.shortSessions > 1) this.pause();
    this.scheduleAttempt();
  }

  private closeUnused(session: Session): void {
    if (session.users > 0) return;
    session.close().catch((error: unknown) => {
      this.options.logger.debug(`The MCP server "${this.options.name}" was not closed properly.`, error);
    });
  }

  private onFailure(session: Session, error: unknown, userId: string | undefined): void {
    const kind = failureOf(error);
    if (kind === undefined) return;
    this.error = reasonOf(error);
    if (kind === 'request' && userId !== undefined && !this.failsForAll(userId)) return;
    this.countFailure();
    if (kind === 'connection' && !session.isRetired) {
      this.retire(session);
      this.scheduleAttempt();
    }
    if (this.failures >= MAX_FAILURES) this.pause();
  }

  /** Counts the failure of a user's call, which may be caused by what that user asks for. */
  private failsForAll(userId: string): boolean {
    this.callFailures.add(userId);
    if (this.callFailures.isReachedForAll) {
      this.failures = Math.max(this.failures, MAX_FAILURES - 1);
      return true;
    }
    if (this.callFailures.isReachedFor(userId)) {
      const failures = (this.userPauses.get(userId)?.failures ?? MAX_FAILURES - 1) + 1;
      this.userPauses.set(userId, { failures, until: this.nextAttempt(failures) });
    }
    return false;
  }

  private pause(): void {
    this.retryAt = this.nextAttempt(Math.max(this.failures, this.shortSessions));
  }

  /** @returns milliseconds since the epoch */
  private nextAttempt(failures: number): number {
    const { retryDelay = RETRY_DELAY_MS } = this.options;
    const delay = Math.min(MAX_RETRY_DELAY_MS, retryDelay * 2 ** Math.min(failures - 1, 16));
    // Processes that have lost the same server do not all come back at once.
    return Date.now() + delay * (0.5 + Math.random() / 2);
  }

  /** Tools that have changed meanwhile, or that were never listed, are there once the server is. */
  private scheduleAttempt(): void {
    clearTimeout(this.timer);
    if (this.isClosed) return;
    const attempt = (): void => {
      this.timer = undefined;
      this.connect().catch(() => {
        // A failure to open has scheduled the next attempt; one that came too early has not.
        if (this.session === undefined && this.timer === undefined) this.scheduleAttempt();
      });
    };
    const pauseMs = this.retryAt - Date.now();
    this.timer = setTimeout(attempt, Math.max(this.options.retryDelay ?? RETRY_DELAY_MS, pauseMs));
    this.timer.unref();
  }

  private unavailable(reason: string, cause?: unknown): LLMConnectionError {
    return new LLMConnectionError(
      `The MCP server "${this.options.name}" cannot be reached: ${reason}.`,
      cause === undefined ? {} : { cause },
    );
  }
}

/** @returns undefined for errors that say nothing about the server's health, such as its own answers */
function failureOf(error: unknown): 'connection' | 'request' | undefined {
  const code = codeOf(error);
  if (code === 'NOT_CONNECTED' || code === 'CONNECTION_CLOSED' || code === 'SEND_FAILED') return 'connection';
  if (isLLMError(error) && error.code === 'connection-failed') return 'connection';
  if (code === 'REQUEST_TIMEOUT' || isLLMError(error)) return 'request';
  return (statusOf(error) ?? 0) >= 500 ? 'request' : undefined;
}

/** https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management */
function isForgotten(error: unknown): boolean {
  return statusOf(error) === 404;
}

/** Tells whether a sign-in is needed: there is no account, or the server rejects it. */
function isUnauthorized(error: unknown): boolean {
  return error instanceof SignInRequiredError || (error instanceof Error && error.name === 'UnauthorizedError');
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}

function statusOf(error: unknown): number | undefined {
  return error instanceof Error && 'status' in error && typeof error.status === 'number' ? error.status : undefined;
}

function reasonOf(error: unknown): string {
  // The client of a server without accounts says no more than the status.
  if (statusOf(error) === 401) return 'it wants a sign-in, or other credentials in its headers (HTTP 401)';
  return (error instanceof Error ? error.message : String(error)).slice(0, 500).replace(/\.$/, '');
}
