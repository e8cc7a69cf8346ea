/** JSON requests to the server that served the page; the session's cookie goes along. */
import { DashboardError } from '../DashboardData';

export interface HttpConnectionPorts {
  readonly fetch: typeof fetch;
  /** Empty in a page, where paths are enough. */
  readonly origin?: string;
  /** Told when the server does not know the session (any more). */
  readonly onSignedOut: () => void;
}

export class HttpConnection {
  private readonly ports: HttpConnectionPorts;

  constructor(ports: HttpConnectionPorts) {
    this.ports = ports;
  }

  get<T>(path: string): Promise<T> {
    return this.request<T>('GET', path);
  }

  post<T>(path: string, body: object = {}): Promise<T> {
    return this.request<T>('POST', path, body);
  }

  delete<T>(path: string): Promise<T> {
    return this.request<T>('DELETE', path);
  }

  /** An answer whose body is read as it comes. @throws DashboardError for any other status than 200 */
  async open(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<ReadableStream<Uint8Array>> {
    const response = await this.send(path, { headers: { accept: 'text/event-stream', ...headers }, signal });
    if (response.status !== 200 || response.body === null) throw await this.refusal(response);
    return response.body;
  }

  private async request<T>(method: string, path: string, body?: object): Promise<T> {
    const response = await this.send(path, {
      method,
      headers: { accept: 'application/json', ...(body === undefined ? {} : { 'content-type': 'application/json' }) },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    if (!response.ok) throw await this.refusal(response);
    if (response.status === 204) return undefined as T;
    // What the server's own routes answer is typed by their contract.
    return (await response.json()) as T;
  }

  private async send(path: string, init: RequestInit): Promise<Response> {
    try {
      return await this.ports.fetch(`${this.ports.origin ?? ''}${path}`, {
        credentials: 'same-origin',
        cache: 'no-store',
        ...init,
      });
    } catch (error) {
      if (init.signal?.aborted === true) throw error;
      throw new DashboardError('connection-failed', 'The server does not answer.');
    }
  }

  private async refusal(response: Response): Promise<DashboardError> {
    const body: unknown = await response.json().catch(() => undefined);
    const { code, message } = errorIn(body);
    if (response.status === 401) this.ports.onSignedOut();
    return new DashboardError(
      response.status === 404 ? 'not-found' : (code ?? `http-${response.status}`),
      message ?? `The server answered with status ${response.status}.`,
    );
  }
}

function errorIn(body: unknown): { code?: string; message?: string } {
  if (typeof body !== 'object' || body === null || !('error' in body)) return {};
  const { error } = body;
  if (typeof error !== 'object' || error === null) return {};
  return {
    ...('code' in error && typeof error.code === 'string' ? { code: error.code } : {}),
    ...('message' in error && typeof error.message === 'string' ? { message: error.message } : {}),
  };
}
