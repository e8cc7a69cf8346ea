/** Sends JSON requests to the server that served the page, with its session cookie. */
import { DashboardError } from '../DashboardData';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';

export interface HttpConnectionOptions {
  readonly fetch: typeof fetch;
  /** Omitted in a browser page, where relative paths suffice. */
  readonly origin?: string;
  /** Sent instead of the session's cookie. */
  readonly token?: string | (() => string | undefined);
  /** Called when the server does not accept the session (any more). */
  readonly onSignedOut: () => void;
}

export class HttpConnection {
  private readonly options: HttpConnectionOptions;
  /** Aborts what is read under the session. */
  private session = new AbortController();
  /** Rejects once the session has ended, resolves if it could not be ended. */
  private ended: Promise<void> | undefined;

  constructor(options: HttpConnectionOptions) {
    this.options = options;
  }

  get<T>(path: string): Promise<T> {
    return this.request<T>('GET', path);
  }

  post<T>(path: string, body: object = {}): Promise<T> {
    return this.request<T>('POST', path, body);
  }

  /** Opens a session, under which everything is asked from now on. */
  async beginSession(credentials: object): Promise<void> {
    await this.post(SESSION, credentials);
    this.ended = undefined;
  }

  /**
   * Ends the session. What is read under it is aborted, since the server would refuse it from now on. What is asked
   * meanwhile waits, and fails with `auth-failed` once the session has ended, as does what a page asks before it has
   * noticed.
   */
  async endSession<T>(): Promise<T> {
    this.session.abort();
    this.session = new AbortController();
    const answered = this.request<T>('DELETE', SESSION);
    this.ended = answered.then(rejectSignedOut, () => {
      this.ended = undefined;
    });
    // Nobody may be waiting.
    this.ended.catch(() => undefined);
    return answered;
  }

  /** Opens a response whose body is read as it arrives. @throws DashboardError for any status but 200 */
  async openStream(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.send(path, { headers: { accept: 'text/event-stream', ...headers }, signal });
    if (response.status !== 200 || response.body === null) throw await this.toDashboardError(response);
    return response.body;
  }

  /** @throws DashboardError */
  async request<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await this.send(path, {
      method,
      headers: omitUndefined({
        accept: 'application/json',
        'content-type': body === undefined ? undefined : 'application/json',
      }),
      ...omitUndefined({ body: body === undefined ? undefined : JSON.stringify(body) }),
    });
    if (!response.ok) throw await this.toDashboardError(response);
    if (response.status === 204) return undefined as T;
    // The contract of the server's own routes types their responses.
    return (await response.json()) as T;
  }

  private async send(
    path: string,
    init: Omit<RequestInit, 'headers'> & { readonly headers: Readonly<Record<string, string>> },
  ): Promise<Response> {
    if (path !== SESSION) await this.ended;
    const { session } = this;
    const isRead = init.method === undefined || init.method === 'GET';
    try {
      return await this.options.fetch(`${this.options.origin ?? ''}${path}`, {
        credentials: 'same-origin',
        cache: 'no-store',
        ...init,
        ...(isRead ? { signal: anySignal(session.signal, init.signal) } : {}),
        headers: { ...init.headers, ...this.authorization },
      });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      // It waits for the end of the session, or is sent again if that fails.
      if (isRead && session.signal.aborted) return this.send(path, init);
      throw new DashboardError('connection-failed', 'The server can’t be reached. Check that it is running.');
    }
  }

  private get authorization(): { readonly authorization?: string } {
    const { token } = this.options;
    const value = typeof token === 'function' ? token() : token;
    return value === undefined ? {} : { authorization: `Bearer ${value}` };
  }

  private async toDashboardError(response: Response): Promise<DashboardError> {
    const body: unknown = await response.json().catch(() => undefined);
    const { code, message, path } = readErrorBody(body);
    if (response.status === 401) this.options.onSignedOut();
    return new DashboardError(
      response.status === 404 ? 'not-found' : (code ?? `http-${response.status}`),
      message ?? `The server responded with status ${response.status}.`,
      path,
    );
  }
}

const SESSION = '/api/session';

function anySignal(signal: AbortSignal, other: AbortSignal | null | undefined): AbortSignal {
  return other === null || other === undefined ? signal : AbortSignal.any([signal, other]);
}

function rejectSignedOut(): never {
  throw new DashboardError('auth-failed', 'You have signed out.');
}

function readErrorBody(body: unknown): { code?: string; message?: string; path?: string } {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {};
  const { error } = body;
  if (typeof error !== 'object' || error === null) return {};
  return {
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...('message' in error && typeof error.message === 'string' ? { message: error.message } : {}),
    ...('path' in error && typeof error.path === 'string' ? { path: error.path } : {}),
  };
}
