/**
 * What all providers do: get a credential, convert, make one attempt, convert back. Vendors differ in their row, wires
 * and client.
 */
import { EventStream } from '../../domain/events/EventStream';
import { isObject, readJson } from '../../domain/util/json';
import {
  isLLMError,
  LLMAuthError,
  LLMError,
  LLMStreamError,
  UnsupportedFeatureError,
} from '../../domain/errors/LLMErrors';
import type { ErrorCode } from '../../domain/errors/LLMErrors';
import type { Credential } from '../../domain/interfaces/CredentialSource';
import type { AccessCheck, ILLMProvider, ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { BatchedCall } from '../../domain/interfaces/VendorBatches';
import { omitUndefined } from '../../domain/util/omitUndefined';
import type { Embeddings, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { RelayRequest, RelayResponse } from '../../domain/types/RelayTypes';
import type { SentRequest } from '../../domain/types/StoredObjects';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { JsonObject, TransportLimits, VendorName, WireName } from '../../domain/types/VendorTypes';
import { RecordedExchange } from '../clients/RecordedExchange';
import type { GuardedFetch } from '../clients/http/guardedFetch';
import type { VendorCall, VendorHttpResponse } from '../clients/VendorClient';
import { decodeStream } from '../streaming/decodeStream';
import type { DecodeOptions } from '../streaming/decodeStream';
import { resumedStream } from './backgroundStream';
import type { Reopen } from './backgroundStream';
import { awaitBackgroundResponse, parseResponse } from './backgroundResponse';
import { once } from './once';
import { isLong, pauseFor } from './pauseFor';
import { callOf, capabilitiesFor, prepareCall, responseContext, transportFor, warningsOf } from './prepareCall';
import type { PreparedCall, ProviderConfig, ProviderDependencies, WireTransport } from './prepareCall';
import { findHostedTools } from '../vendors/findHostedTools';
import { findNamedModels } from '../vendors/modelFields';
import { findStoredObjects } from '../vendors/findStoredObjects';
import type { RequestForm } from '../vendors/storedObjectFields';
import { requestEmbeddings } from './requestEmbeddings';

export interface ClientOptions {
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly baseURL: string | undefined;
  /** Azure's name for a deployed model. */
  readonly deployment: string | undefined;
  readonly apiVersion: string | undefined;
  /** The environment variable for the wire, where the address may not serve all of the vendor's wires. */
  readonly wireVariable?: string;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
}

export class BaseLLMProvider implements ILLMProvider {
  private readonly config: ProviderConfig;
  private readonly dependencies: ProviderDependencies;

  constructor(config: ProviderConfig, dependencies: ProviderDependencies) {
    this.config = config;
    this.dependencies = dependencies;
  }

  get defaultModel(): string | undefined {
    return this.config.defaultModel;
  }

  getProviderName(): string {
    return this.config.id;
  }

  /** @param model empty for the default model */
  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return capabilitiesFor(this.config, model, this.wireOf(wire));
  }

  wireOf(requested?: WireName): WireName {
    return this.transportFor(requested).wire.name;
  }

  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const prepared = await prepareCall(this.config, this.dependencies, options, false);
    if (prepared.options.batch !== undefined) return this.generateInBatch(userId, prepared, prepared.options.batch);
    if (isBackground(prepared)) return this.generateInBackground(userId, prepared);
    const response = await this.send(userId, prepared, prepared.options.signal);
    const text = await response.text();
    const converted = prepared.transport.wire.fromResponse(
      parseBody(text, response),
      responseContext(prepared, response),
    );
    const restored = prepared.rewritten?.restoreResponse(converted) ?? converted;
    if (isRelayed(prepared) && restored === converted) prepared.options.onBody?.(text);
    return restored;
  }

  stream(userId: string, options: GenerateOptions): EventStream {
    const controller = new AbortController();
    const open = async (): Promise<EventStream> => {
      const prepared = await prepareCall(this.config, this.dependencies, options, true);
      const unfollow = follow(controller, prepared.options.signal);
      try {
        const response = await this.send(userId, prepared, controller.signal);
        const body = this.bodyOf(userId, prepared, response, controller.signal);
        return this.decode(prepared, response, body, (reason) => controller.abort(reason), unfollow);
      } catch (error) {
        unfollow();
        throw error;
      }
    };
    return EventStream.opening(open, () => controller.abort());
  }

  async validateAccess(userId: string): Promise<AccessCheck> {
    try {
      await this.withCredential(userId, (credential) => this.dependencies.client.probe(credential));
      return { valid: true };
    } catch (error) {
      if (error instanceof LLMError && (error.code === 'auth-failed' || error.code === 'permission-denied'))
        return { valid: false };
      throw error;
    }
  }

  listModels(userId: string, signal?: AbortSignal): Promise<readonly string[]> {
    return this.withCredential(userId, (credential) => this.dependencies.client.listModels(credential, signal));
  }

  async countTokens(userId: string, options: GenerateOptions): Promise<number | undefined> {
    const { client } = this.transportFor(options.wire);
    if (client.countTokens === undefined) return undefined;
    const prepared = await prepareCall(this.config, this.dependencies, options, false);
    const { signal } = prepared.options;
    return this.withCredential(userId, async (credential) => {
      await this.announce(prepared, credential);
      return client.countTokens?.(callOf(prepared, { credential, userId, signal }));
    });
  }

  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    return requestEmbeddings(userId, options, this.dependencies.client, this.config, (attempt) =>
      this.withCredential(userId, attempt),
    );
  }

  async relay(userId: string, { onSend, ...request }: RelayRequest): Promise<RelayResponse> {
    const { client } = this.dependencies;
    const { id, vendor } = this.config;
    if (client.relay === undefined)
      throw new UnsupportedFeatureError(`Requests to the provider "${id}" (${vendor}) cannot be relayed.`, { vendor });
    const relay = client.relay.bind(client);
    return this.withCredential(
      userId,
      once(request.body, async (credential) => {
        await onSend?.(this.sentRequest('media', jsonOf(request.body), credential));
        return relay({ ...request, userId }, credential);
      }),
    );
  }

  /** @throws UnsupportedFeatureError for an API that stores no responses */
  async deleteResponse(userId: string, responseId: string): Promise<void> {
    const { dependencies } = this;
    const client = [dependencies, ...(dependencies.otherTransports ?? [])].find(({ wire }) =>
      STORING_WIRES.has(wire.name),
    )?.client;
    if (client?.deleteResponse === undefined) {
      throw new UnsupportedFeatureError(`The provider "${this.config.id}" stores no responses.`, {
        vendor: this.config.vendor,
      });
    }
    await this.withCredential(userId, async (credential) => client.deleteResponse?.(responseId, credential));
  }

  private async generateInBackground(userId: string, prepared: PreparedCall): Promise<LLMResponse> {
    const { transport, options, request, rewritten } = prepared;
    const { client, wire } = transport;
    const { signal, timeout, backgroundTurn: turn } = options;
    let requestId: string | undefined;
    const bodyOf = async (response: VendorHttpResponse): Promise<JsonObject> => {
      ({ requestId } = response);
      return parseResponse(await response.text());
    };
    const ended = await awaitBackgroundResponse(request.body, {
      ...{ providerId: this.config.id, turn, signal, timeout },
      start: async () => bodyOf(await this.send(userId, prepared, signal)),
      read: (id) =>
        this.withCredential(userId, async (credential) => {
          const call = { credential, userId, ...omitUndefined({ signal }) };
          if (client.readResponse === undefined) throw new Error('A client with background responses reads them.');
          return bodyOf(await client.readResponse(id, call));
        }),
      cancel: (id) =>
        this.withCredential(userId, async (credential) => client.cancelResponse?.(id, { credential, userId })),
    });
    const converted = wire.fromResponse(ended, responseContext(prepared, { requestId }));
    return rewritten?.restoreResponse(converted) ?? converted;
  }

  /** @throws UnsupportedFeatureError for an API without batches */
  private async generateInBatch(userId: string, prepared: PreparedCall, batch: BatchedCall): Promise<LLMResponse> {
    const { transport, options, request } = prepared;
    const { client, wire } = transport;
    const { id: providerId, vendor } = this.config;
    const relay = client.relay?.bind(client);
    const api = client.batches?.((sent) => {
      if (relay === undefined) throw new Error('A client with batches relays requests.');
      const attempt = (credential: Credential | undefined) => relay({ ...sent, userId }, credential);
      return this.withCredential(userId, once(sent.body, attempt));
    });
    if (api === undefined)
      throw new UnsupportedFeatureError(
        `The provider "${providerId}" (${vendor}) has no batches that Bolide knows. Send the requests without "mode".`,
        { vendor, path: 'mode' },
      );
    await this.withCredential(userId, (credential) => this.announce(prepared, credential));
    const { body, headers } = request;
    const sent = { providerId, vendor, wire: wire.name, model: options.model, body, api };
    const answered = await batch.exchange(headers === undefined ? sent : { ...sent, headers });
    const marked = (response: LLMResponse): LLMResponse => ({
      ...response,
      vendor: { ...response.vendor, batch_id: answered.batchId },
    });
    try {
      const response = marked(wire.fromResponse(answered.body, responseContext(prepared, {})));
      return prepared.rewritten?.restoreResponse(response) ?? response;
    } catch (error) {
      // It was billed, as part of the batch.
      if (isLLMError(error) && error.response !== undefined) error.response = marked(error.response);
      throw error;
    }
  }

  /** The body of the response, over as many connections as a response in the background needs. */
  private bodyOf(
    userId: string,
    prepared: PreparedCall,
    { body }: VendorHttpResponse,
    signal: AbortSignal,
  ): AsyncIterable<Uint8Array> {
    const { client } = prepared.transport;
    const resume = client.resumeStream?.bind(client);
    if (resume === undefined || !isBackground(prepared)) return body;
    const reopen: Reopen = async (responseId, startingAfter) => {
      const attempt = (credential: Credential | undefined) =>
        resume(responseId, startingAfter, { credential, userId, signal });
      return (await this.withCredential(userId, attempt)).body;
    };
    return resumedStream(body, reopen, signal);
  }

  private decode(
    prepared: PreparedCall,
    response: VendorHttpResponse,
    body: AsyncIterable<Uint8Array>,
    abort: DecodeOptions['abort'],
    onEnd: () => void,
  ): EventStream {
    const { transport, options, rewritten } = prepared;
    const decoder = transport.wire.createDecoder(responseContext(prepared, response));
    const relay = isRelayed(prepared) ? transport.wire.name : undefined;
    const relayTo = isRelayed(prepared) ? options.relayTo : undefined;
    const events = decodeStream(body, decoder, { ...this.config.limits, abort, relay, relayTo, onEnd });
    if (rewritten === undefined) return events;
    return events.through({
      push: (event, out) => {
        out.push(...rewritten.restoreEvent(event));
      },
    });
  }

  private transportFor(wire: WireName | undefined): WireTransport {
    return transportFor(this.config, this.dependencies, wire);
  }

  private send(userId: string, prepared: PreparedCall, signal: AbortSignal | undefined): Promise<VendorHttpResponse> {
    const { transport, options } = prepared;
    const exchange = this.recordExchange(prepared);
    const isPlain = options.onSend === undefined && exchange === undefined && !isLong(options);
    const sending = this.withCredential(userId, (credential) => {
      const call = callOf(prepared, { credential, userId, signal });
      return isPlain ? transport.client.send(call) : this.sendObserved(prepared, call, exchange);
    });
    if (options.onHead === undefined && exchange === undefined) return sending;
    return sending.then((response) => this.headReceived(prepared, response, exchange));
  }

  private headReceived(
    prepared: PreparedCall,
    response: VendorHttpResponse,
    exchange: RecordedExchange | undefined,
  ): VendorHttpResponse {
    const { transport, options, request } = prepared;
    if (options.onHead !== undefined) {
      const { requestId, passthroughHeaders: headers } = response;
      const { losses } = request;
      const head = { wire: transport.wire.name, headers, losses, warnings: warningsOf(prepared) };
      options.onHead(omitUndefined({ ...head, requestId }));
    }
    return exchange?.received(response) ?? response;
  }

  private async sendObserved(
    prepared: PreparedCall,
    call: VendorCall,
    exchange: RecordedExchange | undefined,
  ): Promise<VendorHttpResponse> {
    const { transport, options } = prepared;
    const beforeChecks = pauseFor(options);
    if (beforeChecks !== undefined) await beforeChecks;
    if (options.onSend !== undefined) await this.announce(prepared, call.credential);
    exchange?.sentWith(call.credential);
    const beforeSending = pauseFor(options);
    if (beforeSending !== undefined) await beforeSending;
    try {
      return await transport.client.send(call);
    } catch (error) {
      exchange?.failed(error);
      throw error;
    }
  }

  /** @throws what the caller's `onSend` throws */
  private async announce({ transport, options, request }: PreparedCall, credential: Credential | undefined) {
    const { onSend } = options;
    if (onSend === undefined) return;
    try {
      await onSend(this.sentRequest(transport.wire.name, request.body, credential));
    } catch (error) {
      // The vendor was not asked.
      if (isLLMError(error)) error.isOfCredential = true;
      throw error;
    }
  }

  private sentRequest(form: RequestForm, body: unknown, credential: Credential | undefined): SentRequest {
    return {
      providerId: this.config.id,
      isOwnAccount: credential?.isOwn === true,
      objects: findStoredObjects(form, body),
      hostedTools: form === 'media' || !isObject(body) ? [] : findHostedTools(form, body),
      models: isObject(body) ? findNamedModels([form], body) : [],
    };
  }

  /** Only for a caller that wants it: the body of the response stays in memory. */
  private recordExchange({ transport, options, request }: PreparedCall): RecordedExchange | undefined {
    if (options.onExchange === undefined) return undefined;
    const exchange = new RecordedExchange({
      providerId: this.config.id,
      wire: transport.wire.name,
      request: request.body,
    });
    options.onExchange(exchange);
    return exchange;
  }

  /**
   * A rejected OAuth token is refreshed by force once. Nothing else is retried here.
   * @param refusedToken the one that was rejected
   */
  private async withCredential<T>(
    userId: string,
    attempt: (credential: Credential | undefined) => Promise<T>,
    refusedToken?: string,
  ): Promise<T> {
    const request = { providerId: this.config.id, userId };
    let credential: Credential | undefined;
    try {
      credential = await this.dependencies.credentials.getAccessToken(
        refusedToken === undefined ? request : { ...request, forceRefresh: true, refusedToken },
      );
    } catch (error) {
      if (isLLMError(error)) error.isOfCredential = true;
      throw error;
    }
    try {
      return await attempt(credential);
    } catch (error) {
      if (credential?.isOwn === true && isLLMError(error) && OF_ACCOUNT.has(error.code)) error.isOfCredential = true;
      if (!(error instanceof LLMAuthError) || credential?.kind !== 'bearer' || refusedToken !== undefined) throw error;
      return this.withCredential(userId, attempt, credential.token);
    }
  }
}

/** The wires on which vendors can store responses. */
const STORING_WIRES: ReadonlySet<WireName> = new Set(['responses', 'interactions']);

/** The converter decides whether the vendor can. A client of the vendor's own API waits for it itself. */
function isBackground({ request: { body }, options }: PreparedCall): boolean {
  return options.background === true && body.background === true && options.relay !== true;
}

/** Failures of an account, rather than of the vendor or the request. */
const OF_ACCOUNT: ReadonlySet<ErrorCode> = new Set([
  'auth-failed',
  'permission-denied',
  'rate-limited',
  'quota-exceeded',
]);

/**
 * What the vendor has under other names must not be relayed: structured output that came as a forced tool's call, and
 * calls of rewritten tools.
 */
function isRelayed({ options, request, rewritten }: PreparedCall): boolean {
  const isRewritten = rewritten !== undefined && rewritten.isRelayable !== true;
  return options.relay === true && request.structuredOutputTool === undefined && !isRewritten;
}

function parseBody(text: string, response: VendorHttpResponse): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const kind = response.header('content-type') ?? 'no content type';
    throw new LLMStreamError(`The response is not JSON (${kind}, ${text.length} characters).`, {
      cause,
      status: response.status,
      requestId: response.requestId,
    });
  }
}

/** A form's fields hold no ids, and what is no JSON names nothing. */
function jsonOf(body: RelayRequest['body']): unknown {
  return typeof body === 'string' ? readJson(body) : undefined;
}

/** Aborts the controller with the signal. @returns what ends that */
function follow(controller: AbortController, signal: AbortSignal | undefined): () => void {
  const onAbort = (): void => controller.abort(signal?.reason);
  if (signal?.aborted === true) onAbort();
  signal?.addEventListener('abort', onAbort, { once: true });
  return () => signal?.removeEventListener('abort', onAbort);
}
