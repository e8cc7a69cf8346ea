/** What all providers do: credential, convert, one attempt, convert back. Vendors differ by row, wire and client. */
import { LLMAuthError, LLMError, LLMStreamError, UnsupportedFeatureError } from '../../domain/errors/LLMErrors';
import type { Credential, CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ILLMProvider, ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { GenerateOptions, NormalizedOptions } from '../../domain/types/LLMTypes';
import type { InputFile, InputImage, LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { TransportLimits, VendorName, VendorQuirks, WireName } from '../../domain/types/VendorTypes';
import type { GuardedFetch } from '../clients/http/guardedFetch';
import type { VendorCall, VendorClient, VendorReply } from '../clients/VendorClient';
import type { ReplyContext, Wire, WireContext, WireRequest } from '../converters/Wire';
import { decodeBatches } from '../streaming/decodeStream';
import { inlineMedia } from './inlineMedia';
import { capabilitiesOf } from '../vendors/capabilities';
import type { ModelRow } from '../vendors/capabilities';

/** What is true of a vendor whoever's account it is. */
export interface VendorFacts {
  /** The first is the default. */
  readonly wires: readonly [WireName, ...WireName[]];
  /**
   * Every host of this vendor speaks all of them, so each call may choose; elsewhere the account's row says which
   * one its host speaks.
   */
  readonly speaksAll?: true;
  /** For callers that name no model. */
  readonly defaultModel?: string;
  readonly createClient: (options: ClientOptions) => VendorClient;
}

export interface ClientOptions {
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly baseURL: string | undefined;
  /** Azure's name for a model that was set up. */
  readonly deployment: string | undefined;
  readonly apiVersion: string | undefined;
  readonly fetch: GuardedFetch;
  readonly limits: TransportLimits;
}

/** A vendor account, as facts. */
export interface ProviderRow {
  readonly id: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly defaultModel?: string;
  readonly quirks: VendorQuirks;
  readonly limits: TransportLimits;
  /** Permits downloads from private addresses for images and files that callers name by URL. */
  readonly allowPrivateMedia: boolean;
  /** Models that the built-in table does not know, or knows otherwise. */
  readonly models?: readonly ModelRow[];
}

/** A wire, and the client that sends over it. */
export interface Lane {
  readonly client: VendorClient;
  readonly wire: Wire;
}

export interface ProviderPorts extends Lane {
  /** The other wires that the host speaks, for calls that ask for one. */
  readonly others?: readonly Lane[];
  readonly credentials: CredentialSource;
  /** The door: loose options in, items out. @throws LLMInvalidRequestError */
  readonly normalize: (options: GenerateOptions) => NormalizedOptions;
}

interface Exchange {
  readonly lane: Lane;
  readonly options: NormalizedOptions;
  readonly context: WireContext;
  readonly request: WireRequest;
  readonly stream: boolean;
}

export class BaseLLMProvider implements ILLMProvider {
  private readonly row: ProviderRow;
  private readonly ports: ProviderPorts;

  constructor(row: ProviderRow, ports: ProviderPorts) {
    this.row = row;
    this.ports = ports;
  }

  getProviderName(): string {
    return this.row.id;
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return capabilitiesOf(this.row.vendor, model, this.row.models, this.wireOf(wire));
  }

  wireOf(asked?: WireName): WireName {
    return this.lane(asked).wire.name;
  }

  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const exchange = await this.prepare(options, false);
    const reply = await this.send(userId, exchange, exchange.options.signal);
    return exchange.lane.wire.fromResponse(parseBody(await reply.text(), reply), this.replyContext(exchange, reply));
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const exchange = await this.prepare(options, true);
    const controller = new AbortController();
    const { signal } = exchange.options;
    const onAbort = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const reply = await this.send(userId, exchange, controller.signal);
      const decoder = exchange.lane.wire.createDecoder(this.replyContext(exchange, reply));
      // Where structured output came as a forced tool's call, the wire's words are not an answer to what was asked.
      const isRelayed = exchange.options.relay === true && exchange.request.structuredOutputTool === undefined;
      const relay = isRelayed ? exchange.lane.wire.name : undefined;
      const limits = { ...this.row.limits, abort: (reason: unknown) => controller.abort(reason), relay };
      for await (const batch of decodeBatches(reply.body, decoder, limits)) for (const event of batch) yield event;
    } finally {
      signal?.removeEventListener('abort', onAbort);
      // A consumer that leaves takes the request with it.
      controller.abort();
    }
  }

  async validateAccess(userId: string): Promise<boolean> {
    try {
      await this.withCredential(userId, (credential) => this.ports.client.probe(credential));
      return true;
    } catch (error) {
      if (error instanceof LLMError && (error.code === 'auth-failed' || error.code === 'permission-denied'))
        return false;
      throw error;
    }
  }

  /** @throws UnsupportedFeatureError where the host keeps no responses */
  async deleteResponse(userId: string, responseId: string): Promise<void> {
    const { client, wire } = this.lane('responses');
    if (wire.name !== 'responses' || client.deleteResponse === undefined) {
      throw new UnsupportedFeatureError(`${this.row.id} keeps no responses`, { vendor: this.row.vendor });
    }
    await this.withCredential(userId, async (credential) => client.deleteResponse?.(responseId, credential));
  }

  private async prepare(options: GenerateOptions, stream: boolean): Promise<Exchange> {
    const { vendor, quirks, allowPrivateMedia } = this.row;
    const model = options.model ?? this.row.defaultModel;
    const checked = this.ports.normalize(
      model === undefined || options.model !== undefined ? options : { ...options, model },
    );
    const lane = this.lane(checked.wire);
    const { wire } = lane;
    const hostFetches = (part: InputImage | InputFile): boolean => wire.fetchesUrl(part, quirks);
    const input = await inlineMedia(checked.input, {
      hostFetches,
      allowPrivateHosts: allowPrivateMedia,
      signal: checked.signal,
    });
    const normalized = input === checked.input ? checked : { ...checked, input };
    const context = { vendor, quirks, capabilities: this.getCapabilities(normalized.model, wire.name) };
    return { lane, options: normalized, context, request: wire.toRequest(normalized, context, stream), stream };
  }

  private lane(wire: WireName | undefined): Lane {
    if (wire === undefined || wire === this.row.wire) return this.ports;
    return this.ports.others?.find((lane) => lane.wire.name === wire) ?? this.ports;
  }

  private async send(userId: string, exchange: Exchange, signal: AbortSignal | undefined): Promise<VendorReply> {
    const { lane, options, request, stream } = exchange;
    const call: Omit<VendorCall, 'credential'> = {
      model: options.model,
      body: request.body,
      stream,
      ...(request.headers === undefined ? {} : { headers: request.headers }),
      ...(signal === undefined ? {} : { signal }),
      ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    };
    const reply = await this.withCredential(userId, (credential) => lane.client.send({ credential, ...call }));
    const { requestId, shownHeaders: headers } = reply;
    options.onHead?.({ wire: lane.wire.name, headers, ...(requestId === undefined ? {} : { requestId }) });
    return reply;
  }

  /** A refused OAuth token is refreshed by force once; nothing else is tried twice here. */
  private async withCredential<T>(
    userId: string,
    attempt: (credential: Credential | undefined) => Promise<T>,
  ): Promise<T> {
    const request = { providerId: this.row.id, userId };
    const credential = await this.ports.credentials.getAccessToken(request);
    try {
      return await attempt(credential);
    } catch (error) {
      if (!(error instanceof LLMAuthError) || credential?.kind !== 'bearer') throw error;
      return attempt(
        await this.ports.credentials.getAccessToken({ ...request, forceRefresh: true, refusedToken: credential.token }),
      );
    }
  }

  private replyContext(exchange: Exchange, reply: VendorReply): ReplyContext {
    const { request, context, options } = exchange;
    const { requestId } = reply;
    return {
      model: options.model,
      warnings: request.warnings,
      losses: request.losses,
      receivedAt: Math.floor(Date.now() / 1000),
      ...context,
      ...(requestId === undefined ? {} : { requestId }),
      ...(request.structuredOutputTool === undefined ? {} : { structuredOutputTool: request.structuredOutputTool }),
    };
  }
}

function parseBody(text: string, reply: VendorReply): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const kind = reply.header('content-type') ?? 'no content type';
    throw new LLMStreamError(`The answer is not JSON (${kind}, ${text.length} characters).`, {
      cause,
      status: reply.status,
      ...(reply.requestId === undefined ? {} : { requestId: reply.requestId }),
    });
  }
}
