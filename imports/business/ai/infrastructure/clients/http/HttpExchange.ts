/**
 * One request and its answer over a pooled socket; whatever ends it early ends its timers, listeners and socket
 * too.
 */
import { request as httpRequest } from 'node:http';
import type { Agent as HttpAgent, ClientRequest, IncomingMessage, OutgoingHttpHeaders } from 'node:http';
import { request as httpsRequest } from 'node:https';
import type { Agent as HttpsAgent } from 'node:https';
import type { LookupFunction, Socket } from 'node:net';
import { isLLMError, LLMAbortedError, LLMConnectionError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { LLMError, LLMErrorDetails } from '../../../domain/errors/LLMErrors';
import type { TransportLimits } from '../../../domain/types/VendorTypes';
import { GuardedResponse } from './GuardedResponse';

/** One call's own limits, and a label for its errors. */
export interface GuardedCall {
  readonly vendor?: string | undefined;
  readonly signal?: AbortSignal | undefined;
  /** The whole call, body included, in milliseconds; the transport's own limit when absent. */
  readonly timeout?: number | undefined;
  /** From the sent request to the answer's headers, in milliseconds; none of its own when absent. */
  readonly headersTimeout?: number | undefined;
  /** Cap on the decoded body, in bytes; the transport's own when absent. */
  readonly maxResponseBytes?: number | undefined;
}

export interface ExchangeRequest {
  readonly url: URL;
  readonly method: string;
  readonly headers: OutgoingHttpHeaders;
  readonly body: string | Uint8Array | undefined;
}

export interface Transport {
  readonly agents: { readonly http: HttpAgent; readonly https: HttpsAgent };
  readonly limits: TransportLimits;
  readonly lookup: LookupFunction | undefined;
}

/**
 * Settles with the answer's headers. @throws LLMConnectionError, LLMTimeoutError, the lookup's refusal, the
 * signal's reason
 */
export async function sendRequest(
  request: ExchangeRequest,
  call: GuardedCall,
  transport: Transport,
): Promise<GuardedResponse> {
  try {
    return await new HttpExchange(request, call, transport).headers;
  } catch (error) {
    call.signal?.throwIfAborted();
    throw error;
  }
}

class HttpExchange {
  readonly headers: Promise<GuardedResponse>;
  private readonly host: string;
  private readonly secure: boolean;
  private readonly call: GuardedCall;
  private readonly limits: TransportLimits;
  private readonly details: LLMErrorDetails;
  private readonly request: ClientRequest;
  private readonly totalTimer: NodeJS.Timeout;
  private phaseTimer: NodeJS.Timeout | undefined;
  private response: GuardedResponse | undefined;
  private failure: LLMError | undefined;

  constructor({ url, method, headers, body }: ExchangeRequest, call: GuardedCall, transport: Transport) {
    this.host = url.host;
    this.secure = url.protocol === 'https:';
    this.call = call;
    this.limits = transport.limits;
    this.details = call.vendor === undefined ? {} : { vendor: call.vendor };
    this.request = (this.secure ? httpsRequest : httpRequest)({
      agent: this.secure ? transport.agents.https : transport.agents.http,
      hostname: url.hostname.replace(/^\[|\]$/g, ''),
      port: url.port,
      path: url.pathname + url.search,
      method,
      headers,
      ...(transport.lookup === undefined ? {} : { lookup: transport.lookup }),
    });
    const timeout = call.timeout ?? this.limits.totalTimeout;
    this.totalTimer = after(timeout, () => this.stop(this.timedOut(`sent no whole answer within ${timeout} ms`)));
    call.signal?.addEventListener('abort', this.abort);
    this.headers = new Promise((resolve, reject) => {
      this.request.on('response', (message) => resolve(this.respond(url.href, message)));
      const end = (error?: Error): void => {
        this.release();
        if (this.response === undefined) reject(this.failure ?? this.unreachable(error));
      };
      this.request.on('error', end);
      // The last event of every exchange; a connection may close without an answer and without an error.
      this.request.on('close', () => end());
    });
    this.request.on('socket', (socket) => this.connect(socket));
    this.request.end(body);
  }

  /** A new socket has its own time limit: name, connection and TLS together. */
  private connect(socket: Socket): void {
    if (!socket.connecting) {
      this.awaitHeaders();
      return;
    }
    const { connectTimeout } = this.limits;
    this.phaseTimer = after(connectTimeout, () =>
      this.stop(this.timedOut(`accepted no connection within ${connectTimeout} ms`)),
    );
    socket.once(this.secure ? 'secureConnect' : 'connect', () => this.awaitHeaders());
  }

  private awaitHeaders(): void {
    clearTimeout(this.phaseTimer);
    const { headersTimeout } = this.call;
    if (headersTimeout === undefined || this.response !== undefined) return;
    this.phaseTimer = after(headersTimeout, () => this.stop(this.timedOut(`sent nothing within ${headersTimeout} ms`)));
  }

  private respond(url: string, message: IncomingMessage): GuardedResponse {
    clearTimeout(this.phaseTimer);
    this.response = new GuardedResponse(url, message, {
      maxBytes: this.call.maxResponseBytes ?? this.limits.maxResponseBytes,
      signal: this.call.signal,
      host: this.host,
      details: this.details,
    });
    return this.response;
  }

  private readonly abort = (): void => {
    this.stop(new LLMAbortedError('the call was aborted', this.details));
  };

  /** Ends everything from this side; the reader of the body learns why. */
  private stop(failure: LLMError): void {
    this.failure ??= failure;
    if (this.response === undefined) this.request.destroy(failure);
    else this.response.body.stop(failure);
  }

  private release(): void {
    clearTimeout(this.totalTimer);
    clearTimeout(this.phaseTimer);
    this.call.signal?.removeEventListener('abort', this.abort);
  }

  private timedOut(what: string): LLMTimeoutError {
    return new LLMTimeoutError(`${this.host} ${what}`, this.details);
  }

  /**
   * No answer: a name that is not found, a refused or reset connection, a certificate, an idle socket that the host
   * had closed.
   */
  private unreachable(error: Error | undefined): LLMError {
    if (isLLMError(error)) return error;
    const code = error !== undefined && 'code' in error && typeof error.code === 'string' ? `: ${error.code}` : '';
    return new LLMConnectionError(`no answer from ${this.host}${code}`, {
      ...this.details,
      ...(error === undefined ? {} : { cause: error }),
    });
  }
}

/** The longest delay that a timer can hold. */
const MAX_DELAY = 2 ** 31 - 1;

function after(milliseconds: number, action: () => void): NodeJS.Timeout {
  return setTimeout(action, Math.min(Math.max(milliseconds, 1), MAX_DELAY));
}
