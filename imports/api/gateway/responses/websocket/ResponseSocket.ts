/**
 * One WebSocket of the Responses API: handles turns one after another, each with events or a single error.
 * https://www.openresponses.org, "WebSocket"
 */
import type { IncomingMessage } from 'node:http';
import type { RawData, WebSocket } from 'ws';
import { withLogIds } from '../../../../business/ai/application/services/shared/logIds';
import type { Release } from '../../../../business/limits/application/UserLimiter';
import { LLMAbortedError, LLMInvalidRequestError } from '../../../../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../../../../business/ai/domain/errors/LLMErrors';
import type { RequestLog } from '../../../../business/requestLog/domain/RequestLog';
import type { ResponseStore } from '../../../../business/ai/domain/interfaces/ResponseStore';
import type { RawReasoningName } from '../../../../business/ai/infrastructure/converters/stream/StreamEncoder';
import type { RequestOutcome } from '../../../../business/ai/infrastructure/telemetry/HttpSpans';
import type { Telemetry } from '../../../../business/ai/infrastructure/telemetry/Telemetry';
import type { ApiPrincipal } from '../../../auth/ApiPrincipal';
import { beginRequest } from '../../../http/beginRequest';
import type { RequestLimiters } from '../../../http/beginRequest';
import { errorResponse } from '../../../http/errorResponse';
import { HttpError } from '../../../http/HttpError';
import type { RequestDetails } from '../../../http/RequestContext';
import { createRequestId } from '../../../http/requestId';
import { refusedRequest } from '../../../http/refusedRequest';
import type { InFlightRequests } from '../../../http/InFlightRequests';
import type { JsonLimits } from '../../../http/JsonScan';
import { parseJson } from '../../../http/parseJson';
import type { Metrics } from '../../../http/Metrics';
import type { Item } from '../../../../business/ai/domain/types/ResponsesAPITypes';
import { isObject } from '../../../../business/ai/domain/util/json';
import { prepareResponse } from '../prepareResponse';
import type { PreparationPorts } from '../prepareResponse';
import { changesIn, gatewayOrigin, logChanges } from '../../vendorCall';
import type { VendorCallPorts } from '../../vendorCall';
import type { ResponseService, SaveTurn } from '../ResponseService';
import { ResponseSteering } from './ResponseSteering';
import { ConnectionResponseStore } from './ConnectionResponseStore';
import { SocketSink } from './SocketSink';

/** The limiters count each message as a request. */
export interface SocketPorts extends PreparationPorts, VendorCallPorts, JsonLimits, RequestLimiters {
  readonly service: ResponseService;
  readonly store: ResponseStore;
  readonly inFlight: InFlightRequests;
  readonly metrics: Metrics;
  readonly toError: (thrown: unknown) => LLMError;
  readonly requestLog?: Pick<RequestLog, 'add'>;
  /** Milliseconds. */
  readonly keepAliveAfter: number;
  /** Milliseconds. */
  readonly maxConnectionTime: number;
  readonly maxBodyBytes: number;
  /** Handles a request within a span. */
  readonly traceMessage: Telemetry['traceMessage'];
  /** The one that opened the socket. */
  readonly request: IncomingMessage;
  /** The name of raw reasoning events for this client. */
  readonly rawReasoningName: RawReasoningName;
}

interface CreateRequest {
  readonly body: Record<string, unknown>;
  readonly generates: boolean;
}

const ROUTE = '/v1/responses';
/** The type of messages that steer. */
const STEER = '"response.steer"';
const MAX_STEER_BYTES = 1024 * 1024;
/** Requests and their bytes that may wait while one is being handled. Beyond that, the socket is not read. */
const MAX_WAITING = 4;
const MAX_WAITING_BYTES = 256 * 1024;

export class ResponseSocket {
  private readonly socket: WebSocket;
  private readonly principal: ApiPrincipal;
  private readonly ports: SocketPorts;
  private readonly store: ConnectionResponseStore;
  private readonly steering = new ResponseSteering((event) => this.send(event));
  private readonly waiting: (() => Promise<void>)[] = [];
  private readonly timers: readonly ReturnType<typeof setTimeout>[];
  private current: AbortController | undefined;
  private waitingBytes = 0;
  /** Bytes of the requests whose items the latest response continues. */
  private heldBytes = 0;
  private isClosing = false;
  private answersPings = true;

  constructor(socket: WebSocket, principal: ApiPrincipal, ports: SocketPorts) {
    this.socket = socket;
    this.principal = principal;
    this.ports = ports;
    this.store = new ConnectionResponseStore(ports.store);
    this.timers = [
      setTimeout(() => this.expire(), ports.maxConnectionTime),
      setInterval(() => this.checkAlive(), ports.keepAliveAfter),
    ];
    socket.on('message', (data, isBinary) => this.enqueue(data, isBinary));
    socket.on('pong', () => {
      this.answersPings = true;
    });
    // An error is always followed by `close`.
    socket.on('error', () => undefined);
    socket.once('close', () => this.onClose());
  }

  get userId(): string {
    return this.principal.userId;
  }

  get tokenId(): string | undefined {
    return this.principal.token?.id;
  }

  get sessionId(): string | undefined {
    return this.principal.sessionId;
  }

  /** Completes the current turn, then closes. */
  close(): void {
    this.isClosing = true;
    this.waiting.length = 0;
    if (this.current === undefined) this.closeGracefully();
  }

  private enqueue(data: RawData, isBinary: boolean): void {
    if (this.isClosing) return;
    // It is about the turn in progress, and does not wait for it.
    if (!isBinary && Buffer.isBuffer(data) && data.includes(STEER) && data.length <= MAX_STEER_BYTES) {
      void this.steer(data);
      return;
    }
    this.waiting.push(this.request(() => this.readCreate(data, isBinary), Buffer.isBuffer(data) ? data.length : 0));
    this.begin();
  }

  /** Takes input for the response in progress. What only contains the type of such a message is handled as others. */
  private async steer(data: Buffer): Promise<void> {
    const message = await this.parsed(data);
    if (message?.type === 'response.steer') this.continue(this.steering.steer(message));
    else this.waiting.push(this.request(() => this.readCreate(data, false), data.length));
    this.begin();
  }

  /** @returns undefined for what is no JSON object, which is reported in its turn */
  private async parsed(data: Buffer): Promise<Record<string, unknown> | undefined> {
    try {
      const message = await parseJson(data, this.ports);
      return isObject(message) ? message : undefined;
    } catch {
      return undefined;
    }
  }

  /** @param body of the response that follows by itself */
  private continue(body: Record<string, unknown> | undefined): void {
    if (body === undefined) return;
    const read = (): Promise<CreateRequest> => Promise.resolve({ body, generates: true });
    // Before what its client has sent meanwhile, which may continue it.
    this.waiting.unshift(this.request(read, JSON.stringify(body).length));
  }

  private request(read: () => Promise<CreateRequest>, bytes: number): () => Promise<void> {
    this.waitingBytes += bytes;
    return () => {
      this.waitingBytes -= bytes;
      return this.trace(() => this.handle(read, bytes));
    };
  }

  private begin(): void {
    if (this.waiting.length >= MAX_WAITING || this.waitingBytes > MAX_WAITING_BYTES) this.socket.pause();
    if (this.current === undefined) void this.handleWaiting();
  }

  private async handleWaiting(): Promise<void> {
    for (let next = this.waiting.shift(); next !== undefined; next = this.waiting.shift()) {
      if (this.socket.isPaused) this.socket.resume();
      await next();
    }
    if (this.isClosing) this.closeGracefully();
  }

  private trace(handle: () => Promise<RequestOutcome>): Promise<void> {
    const { request, traceMessage } = this.ports;
    return withLogIds({ request: createRequestId() }, () => traceMessage({ request, route: ROUTE }, handle));
  }

  /** Never rejects: errors are sent to the client. */
  private async handle(read: () => Promise<CreateRequest>, bytes: number): Promise<RequestOutcome> {
    const { service, inFlight, metrics, toError, keepAliveAfter, maxRetryTime, logger, rawReasoningName, requestLog } =
      this.ports;
    const controller = new AbortController();
    const { signal } = controller;
    const startedAt = performance.now();
    let provider = '';
    let status = 200;
    let previousId: string | undefined;
    const details: RequestDetails = {};
    const fail = (error: LLMError): readonly string[] => {
      const response = errorResponse(error, { api: 'responses', requestId: '' });
      status = response.status;
      if (previousId !== undefined) this.store.evict(previousId);
      return [`data: ${JSON.stringify({ type: 'error', status: response.status, ...response.body })}\n\n`];
    };
    this.current = controller;
    const { userId, tokenId, sessionId } = this;
    inFlight.enter(controller, { route: 'socket /v1/responses', userId, tokenId, sessionId });
    let requested: Record<string, unknown> = {};
    let output: readonly Item[] | undefined;
    const sink = new SocketSink(this.socket, signal, (message) => this.steering.sent(message, requested));
    let release: Release | undefined;
    try {
      release = await beginRequest(this.ports, this.principal, {
        holds: 'calls',
        bytes,
        signal,
      });
      const { body: given, generates } = await read();
      const body = this.steering.steered(given);
      requested = body;
      if (typeof body.model === 'string') details.model = body.model;
      previousId = typeof body.previous_response_id === 'string' ? body.previous_response_id : undefined;
      this.hold(bytes, previousId);
      const turn = await prepareResponse(body, this.principal, this.store, this.ports);
      provider = turn.route.providerId;
      const saveTurn: SaveTurn = (stored, isStored) => {
        output = stored.response.output;
        return this.store.saveTurn(stored, turn.history, isStored);
      };
      const onNotStored = ({ message }: LLMError): void => logger.info(message, { userId: this.userId });
      if (!generates) {
        await service.prepare(turn, sink, { saveTurn, onNotStored, rawReasoningName });
        return this.outcome(status);
      }
      details.isCalled = true;
      await service.stream(turn, sink, {
        call: {
          origin: gatewayOrigin('responses', this.principal, details),
          signal,
          maxRetryTime,
          onHead: (head) => logChanges(logger, changesIn(head), { userId: this.userId, providerId: provider }),
        },
        hasLeft: () => this.hasLeft,
        toError,
        keepAliveAfter,
        rawReasoningName,
        fail,
        saveTurn,
        onNotStored,
      });
    } catch (thrown) {
      // If the client disconnects meanwhile, the rest is dropped.
      if (!this.hasLeft) {
        const error = toError(thrown);
        await sink.write(fail(error))?.catch(() => undefined);
        if (details.isCalled !== true)
          requestLog?.add(refusedRequest(error, { api: 'responses', principal: this.principal, details, startedAt }));
      }
    } finally {
      release?.();
      this.continue(this.steering.ended(output));
      this.current = undefined;
      inFlight.leave(controller);
      metrics.record({
        route: 'socket /v1/responses',
        provider,
        status: this.outcome(status).status,
        seconds: (performance.now() - startedAt) / 1_000,
      });
    }
    return this.outcome(status);
  }

  private outcome(status: number): RequestOutcome {
    const { hasLeft } = this;
    return { status: hasLeft ? 499 : status, hasLeft };
  }

  /**
   * The connection keeps the whole conversation of its latest response.
   * @throws HttpError if it becomes longer than one request may be
   */
  private hold(bytes: number, previousId: string | undefined): void {
    const held = bytes + (previousId === undefined ? 0 : this.heldBytes);
    if (held > this.ports.maxBodyBytes)
      throw new HttpError(
        413,
        `The requests of this connection's conversation have more than ${this.ports.maxBodyBytes} bytes together. Start a new one.`,
      );
    this.heldBytes = held;
  }

  /**
   * `generate: false` only prepares the connection, as Codex does while its user still writes.
   * https://platform.openai.com/docs/guides/websocket-mode
   * @throws LLMInvalidRequestError unless the message is a valid `response.create`
   */
  private async readCreate(data: RawData, isBinary: boolean): Promise<CreateRequest> {
    if (isBinary || !Buffer.isBuffer(data))
      throw new LLMInvalidRequestError('Messages must be text, not binary.', { path: '' });
    const message = await parseJson(data, this.ports);
    if (!isObject(message)) throw new LLMInvalidRequestError('A message must be a JSON object.', { path: '' });
    const { type, stream: _, stream_options: __, background, generate, ...body } = message;
    if (type !== 'response.create')
      throw new LLMInvalidRequestError('The message type must be response.create.', { path: 'type' });
    if (background === true)
      throw new LLMInvalidRequestError('Background responses are not supported on a WebSocket.', {
        path: 'background',
      });
    if (generate !== undefined && typeof generate !== 'boolean')
      throw new LLMInvalidRequestError('generate must be true or false.', { path: 'generate' });
    return { body, generates: generate !== false };
  }

  private send(event: object): void {
    if (!this.hasLeft) this.socket.send(JSON.stringify(event), () => undefined);
  }

  private get hasLeft(): boolean {
    return this.socket.readyState !== this.socket.OPEN;
  }

  private onClose(): void {
    for (const timer of this.timers) clearTimeout(timer);
    this.waiting.length = 0;
    this.current?.abort(new LLMAbortedError('The client disconnected.'));
  }

  private expire(): void {
    const minutes = Math.round(this.ports.maxConnectionTime / 60_000);
    const error = {
      type: 'invalid_request',
      code: 'websocket_connection_limit_reached',
      message: `The connection has reached its limit of ${minutes} minutes. Open a new one.`,
      param: null,
    };
    if (!this.hasLeft) this.socket.send(JSON.stringify({ type: 'error', status: 400, error }));
    this.close();
  }

  private closeGracefully(): void {
    this.socket.close(GOING_AWAY, 'The server is closing the connection.');
    // A client that does not close in turn is gone already.
    const timer = setTimeout(() => this.socket.terminate(), CLOSE_TIMEOUT_MS);
    this.socket.once('close', () => clearTimeout(timer));
  }

  private checkAlive(): void {
    if (!this.answersPings) {
      this.socket.terminate();
      return;
    }
    this.answersPings = false;
    if (!this.hasLeft) this.socket.ping();
  }
}

/** https://www.rfc-editor.org/rfc/rfc6455#section-7.4.1 */
const GOING_AWAY = 1001;
/** Milliseconds. */
const CLOSE_TIMEOUT_MS = 2_000;
