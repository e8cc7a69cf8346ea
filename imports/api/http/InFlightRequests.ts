/** Tracks the requests in progress, so that a shutdown, or the deletion of their user's data, can end them. */
import { LLMAbortedError, LLMAuthError, LLMOverloadedError } from '../../business/ai/domain/errors/LLMErrors';
import type { ApiPrincipal } from '../auth/ApiPrincipal';

interface InFlightRequest {
  /** The name of its route. */
  readonly route: string;
  /** Set as soon as the user is known. */
  readonly userId?: string | undefined;
  /** The API token that was presented, unless the request may outlive it. */
  readonly tokenId?: string | undefined;
  /** The session of the dashboard, unless the request may outlive it. */
  readonly sessionId?: string | undefined;
}

export class InFlightRequests {
  private readonly running = new Map<AbortController, InFlightRequest>();
  private readonly onLeave = new Set<() => void>();
  private leaving = false;
  private closing: Promise<void> | undefined;

  /** Clients and load balancers are told to go to another process, and requests are still served. */
  get isLeaving(): boolean {
    return this.leaving || this.isClosing;
  }

  startLeaving(): void {
    this.leaving = true;
  }

  get isClosing(): boolean {
    return this.closing !== undefined;
  }

  get size(): number {
    return this.running.size;
  }

  /** @param controller aborts the request when the grace period ends, or when its user's requests are cancelled */
  enter(controller: AbortController, request: InFlightRequest): void {
    this.running.set(controller, request);
  }

  /** Assigns a request to its authenticated user. */
  identify(controller: AbortController, { userId, token, sessionId }: Omit<ApiPrincipal, 'scopes'>): void {
    const request = this.running.get(controller);
    if (request !== undefined)
      this.running.set(controller, { route: request.route, userId, tokenId: token?.id, sessionId });
  }

  /** The API tokens of the requests in progress. */
  get tokenIds(): readonly string[] {
    return [...this.running.values()].flatMap(({ tokenId }) => tokenId ?? []);
  }

  /** Cancels the requests of a token that is no longer valid. */
  cancelToken(tokenId: string): void {
    for (const [controller, request] of this.running)
      if (request.tokenId === tokenId) controller.abort(new LLMAuthError('The API token is no longer valid.'));
  }

  /** The sessions of the requests in progress. */
  get sessionIds(): readonly string[] {
    return [...this.running.values()].flatMap(({ sessionId }) => sessionId ?? []);
  }

  /** Cancels the requests of a session that has ended. */
  cancelSession(sessionId: string): void {
    for (const [controller, request] of this.running)
      if (request.sessionId === sessionId) controller.abort(new LLMAuthError('You were signed out.'));
  }

  leave(controller: AbortController): void {
    this.running.delete(controller);
    for (const notify of this.onLeave) notify();
  }

  /**
   * Cancels the user's requests. Resolves when they have ended.
   * @param patienceMs requests that take longer to end are not awaited
   */
  async cancelUser(userId: string, patienceMs: number): Promise<void> {
    const theirs = [...this.running].flatMap(([controller, request]) =>
      request.userId === userId ? [controller] : [],
    );
    for (const controller of theirs) controller.abort(new LLMAbortedError('The data of the user is being deleted.'));
    await this.until(() => !theirs.some((controller) => this.running.has(controller)), patienceMs);
  }

  /**
   * Resolves when no request is in progress.
   * @param graceMs requests that take longer are aborted
   * @param patienceMs aborted requests that take longer to end are not awaited: their clients may have stopped reading
   * @param onAborted receives the names of their routes
   * @param hurry ends the grace early
   */
  close(
    graceMs: number,
    patienceMs: number,
    onAborted: (routes: readonly string[]) => void,
    hurry?: AbortSignal,
  ): Promise<void> {
    this.closing ??= this.wait(graceMs, patienceMs, onAborted, hurry);
    return this.closing;
  }

  private async wait(
    graceMs: number,
    patienceMs: number,
    onAborted: (routes: readonly string[]) => void,
    hurry: AbortSignal | undefined,
  ): Promise<void> {
    const isIdle = (): boolean => this.running.size === 0;
    await this.until(isIdle, graceMs, hurry);
    if (isIdle()) return;
    onAborted([...this.running.values()].map(({ route }) => route));
    for (const controller of this.running.keys())
      controller.abort(new LLMOverloadedError('The server is shutting down.'));
    await this.until(isIdle, patienceMs);
  }

  private async until(condition: () => boolean, limitMs: number, hurry?: AbortSignal): Promise<void> {
    if (condition() || hurry?.aborted === true) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    let check = (): void => undefined;
    await new Promise<void>((resolve) => {
      check = () => {
        if (condition()) resolve();
      };
      this.onLeave.add(check);
      timer = setTimeout(resolve, limitMs);
      hurry?.addEventListener('abort', () => resolve(), { once: true });
    });
    clearTimeout(timer);
    this.onLeave.delete(check);
  }
}
