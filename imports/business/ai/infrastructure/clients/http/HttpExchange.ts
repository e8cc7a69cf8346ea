/** One request and its response over a pooled socket. Ending it early also ends its timers, listeners and socket. */
import type { Agent as HttpAgent, ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import type { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { pipeline, Readable } from 'node:stream';
import { isLLMError, LLMAbortedError, LLMConnectionError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { LLMError, LLMErrorDetails } from '../../../domain/errors/LLMErrors';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { TransportLimits } from '../../../domain/types/VendorTypes';
import { GuardedResponse } from './GuardedResponse';

/** One call's limits, and the vendor that its errors name. */
export interface GuardedCall {
  readonly vendor?: string | undefined;
  /** Whose request it is, for a fair share of the sockets. Default: nobody's. */
  readonly userId?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Milliseconds for the entire call, body included. Default: the transport's limit. */
  readonly timeout?: number | undefined;
  /** Milliseconds from sending the request to the response's headers. Default: no separate limit. */
  readonly headersTimeout?: number | undefined;
  /** Limit on the decoded body, in bytes. Default: the transport's limit. */
  readonly maxResponseBytes?: number | undefined;
}

/** The parts of an address, which are read once for a `URL` that is used again: each is a getter that copies text. */
export interface HttpTarget {
  readonly href: string;
  readonly origin: string;
  readonly host: string;
  readonly isSecure: boolean;
  readonly hostname: string;
  readonly port: string;
  readonly path: string;
}

export function targetOf(url: URL): HttpTarget {
  const { href, origin, host, protocol, hostname, port, pathname, search } = url;
  const isSecure = protocol === 'https:';
  return { href, origin, host, isSecure, hostname: hostname.replace(/^\[|\]$/g, ''), port, path: pathname + search };
}

export interface HttpRequest {
  readonly target: HttpTarget;
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  /** An iterable is read at the pace of the socket; the error that it throws is the exchange's. */
  readonly body: string | Uint8Array | AsyncIterable<Uint8Array> | undefined;
}

/** Characters of a text that is written at once. A longer one would be copied as a whole, while others wait. */
const MAX_WRITTEN = 4 * 1_024 ** 2;
/** Characters of a piece of it. */
const PIECE = 128 * 1_024;

export interface Transport {
  readonly http: typeof import('node:http');
  readonly https: typeof import('node:https');
  readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent };
  readonly limits: TransportLimits;
  readonly lookup: LookupFunction | undefined;
}

/**
 * Resolves when the response's headers have arrived.
 * @param onClose called once when the socket is no longer used
 * @throws LLMConnectionError, LLMTimeoutError, the lookup's error
 */
export function sendRequest(
  request: HttpRequest,
  call: GuardedCall,
  transport: Transport,
  onClose: () => void,
): Promise<GuardedResponse> {
  return new HttpExchange(request, call, transport, onClose).response;
}

class HttpExchange {
  /** Settles when the headers have arrived. */
  readonly response: Promise<GuardedResponse>;
  private readonly target: HttpTarget;
  private readonly call: GuardedCall;
  private readonly limits: TransportLimits;
  private readonly details: LLMErrorDetails;
  private readonly request: ClientRequest;
  private readonly totalTimer: NodeJS.Timeout;
  private phaseTimer: NodeJS.Timeout | undefined;
  private received: GuardedResponse | undefined;
  private failure: LLMError | undefined;

  constructor(
    { target, method, headers, body }: HttpRequest,
    call: GuardedCall,
    transport: Transport,
    onClose: () => void,
  ) {
    this.target = target;
    this.call = call;
    this.limits = transport.limits;
    this.details = call.vendor === undefined ? {} : { vendor: call.vendor };
    this.request = (target.isSecure ? transport.https : transport.http).request({
      agent: target.isSecure ? transport.agents.https : transport.agents.http,
      hostname: target.hostname,
      port: target.port,
      path: target.path,
      method,
      headers,
      lookup: transport.lookup,
    });
    const timeout = call.timeout ?? this.limits.totalTimeout;
    this.totalTimer = startTimer(timeout, () =>
      this.stop(this.timeoutError(`did not complete its response within ${timeout} ms`)),
    );
    call.signal?.addEventListener('abort', this.abort);
    this.response = new Promise((resolve, reject) => {
      this.request.on('response', (message) => resolve(this.onResponse(message)));
      const end = (error?: Error): void => {
        this.release();
        if (this.received === undefined) reject(this.failure ?? this.connectionError(error));
      };
      this.request.on('error', end);
      // Always the last event. A connection may close without a response and without an error.
      this.request.on('close', () => {
        end();
        onClose();
      });
    });
    this.request.on('socket', (socket) => this.onSocket(socket));
    this.send(body);
  }

  private send(body: HttpRequest['body']): void {
    if (typeof body === 'string' && body.length > MAX_WRITTEN) {
      this.request.setHeader('content-length', Buffer.byteLength(body));
      this.stream(piecesOf(body));
    } else if (body === undefined || typeof body === 'string' || body instanceof Uint8Array) this.request.end(body);
    else this.stream(this.observed(body));
  }

  /** Sends the body piece by piece. A failure destroys the request, whose events report it. */
  private stream(body: Iterable<Uint8Array> | AsyncIterable<Uint8Array>): void {
    pipeline(Readable.from(body, { objectMode: false }), this.request, () => undefined);
  }

  /** The request's own error would only tell that it was destroyed. */
  private async *observed(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
    try {
      yield* body;
    } catch (error) {
      if (isLLMError(error)) this.failure ??= error;
      throw error;
    }
  }

  /** A new socket has a time limit of its own for name lookup, connection and TLS handshake together. */
  private onSocket(socket: Socket): void {
    if (!socket.connecting) {
      this.awaitHeaders();
      return;
    }
    const { connectTimeout } = this.limits;
    this.phaseTimer = startTimer(connectTimeout, () =>
      this.stop(this.timeoutError(`accepted no connection within ${connectTimeout} ms`)),
    );
    socket.once(this.target.isSecure ? 'secureConnect' : 'connect', () => this.awaitHeaders());
  }

  private awaitHeaders(): void {
    clearTimeout(this.phaseTimer);
    const { headersTimeout } = this.call;
    if (headersTimeout === undefined || this.received !== undefined) return;
    this.phaseTimer = startTimer(headersTimeout, () =>
      this.stop(this.timeoutError(`did not respond within ${headersTimeout} ms`)),
    );
  }

  private onResponse(message: IncomingMessage): GuardedResponse {
    clearTimeout(this.phaseTimer);
    this.received = new GuardedResponse(this.target.href, message, {
      maxBytes: this.call.maxResponseBytes ?? this.limits.maxResponseBytes,
      signal: this.call.signal,
      host: this.target.host,
      details: this.details,
    });
    return this.received;
  }

  private readonly abort = (): void => {
    this.stop(new LLMAbortedError('The call was aborted.', this.details));
  };

  /** Ends the exchange from this side; the reader of the body gets the failure. */
  private stop(failure: LLMError): void {
    this.failure ??= failure;
    if (this.received === undefined) this.request.destroy(failure);
    else this.received.body.stop(failure);
  }

  private release(): void {
    clearTimeout(this.totalTimer);
    clearTimeout(this.phaseTimer);
    this.call.signal?.removeEventListener('abort', this.abort);
  }

  private timeoutError(problem: string): LLMTimeoutError {
    return new LLMTimeoutError(`${this.target.host} ${problem}.`, this.details);
  }

  /**
   * Covers unknown names, refused or reset connections, invalid certificates, and idle sockets that the server had
   * closed.
   */
  private connectionError(error: Error | undefined): LLMError {
    if (isLLMError(error)) return error;
    const code = error !== undefined && 'code' in error && typeof error.code === 'string' ? `: ${error.code}` : '';
    return new LLMConnectionError(`No response from ${this.target.host}${code}.`, {
      ...this.details,
      ...omitUndefined({ cause: error }),
    });
  }
}

/** The longest delay that timers support. */
const MAX_DELAY_MS = 2 ** 31 - 1;

function startTimer(milliseconds: number, action: () => void): NodeJS.Timeout {
  return setTimeout(action, Math.min(Math.max(milliseconds, 1), MAX_DELAY_MS));
}

function* piecesOf(text: string): Generator<Uint8Array, void, undefined> {
  for (let start = 0; start < text.length;) {
    const next = start + PIECE;
    // The halves of a surrogate pair stay together.
    const end = (text.codePointAt(next - 1) ?? 0) > 0xffff ? next + 1 : next;
    yield Buffer.from(text.slice(start, end));
    start = end;
  }
}
