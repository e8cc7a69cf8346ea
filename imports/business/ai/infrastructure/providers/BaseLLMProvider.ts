/**
 * What all providers do: get a credential, convert, make one attempt, convert back. Vendors differ in their row, wires
 * and client.
 */
import { LLMAuthError, LLMError, LLMStreamError, UnsupportedFeatureError } from '../../domain/errors/LLMErrors';
import type { Credential, CredentialSource } from '../../domain/interfaces/CredentialSource';
import type { ILLMProvider, ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { Embeddings, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { GenerateOptions, NormalizedOptions } from '../../domain/types/LLMTypes';
import type { RelayRequest, RelayResponse } from '../../domain/types/RelayTypes';
import type { InputFile, InputImage, LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { TransportLimits, VendorName, VendorQuirks, WireName } from '../../domain/types/VendorTypes';
import { RecordedExchange } from '../clients/RecordedExchange';
import type { GuardedFetch } from '../clients/http/guardedFetch';
import type { VendorCall, VendorClient, VendorHttpResponse } from '../clients/VendorClient';
import type { ResponseContext, Wire, WireContext, WireRequest } from '../converters/Wire';
import { mergeAdditionalTools } from '../converters/shared/additionalTools';
import { offerCustomToolsAsFunctions } from '../converters/shared/customTools';
import { rewriteTools } from '../converters/shared/RewrittenTools';
import type { RewrittenTools } from '../converters/shared/RewrittenTools';
import { flattenNamespaces } from '../converters/shared/toolNamespaces';
import { decodeBatches } from '../streaming/decodeStream';
import { inlineMedia } from './inlineMedia';
import { once } from './once';
import { requestEmbeddings } from './requestEmbeddings';
import { convertOffered } from './offeredTools';
import { capabilitiesOf } from '../vendors/capabilities';
import type { ModelRow } from '../vendors/ModelRow';

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

/** One account: its vendor's row and its settings, combined. */
export interface ProviderConfig {
  readonly id: string;
  readonly vendor: VendorName;
  readonly wire: WireName;
  readonly defaultModel?: string;
  readonly quirks: VendorQuirks;
  readonly limits: TransportLimits;
  /** Permits downloads from private addresses for images and files that callers name by URL. */
  readonly allowPrivateMedia: boolean;
  /** Models that the vendor's table lacks or describes differently. */
  readonly models?: readonly ModelRow[];
}

/** A wire, and the client that sends over it. */
export interface WireTransport {
  readonly client: VendorClient;
  readonly wire: Wire;
}

export interface ProviderDependencies extends WireTransport {
  /** The other wires that the API serves, for calls that ask for one. */
  readonly otherTransports?: readonly WireTransport[];
  readonly credentials: CredentialSource;
  /** Turns a caller's loose options into valid items. @throws LLMInvalidRequestError */
  readonly normalize: (options: GenerateOptions) => NormalizedOptions;
}

interface PreparedCall {
  readonly transport: WireTransport;
  readonly options: NormalizedOptions;
  readonly context: WireContext;
  readonly request: WireRequest;
  readonly stream: boolean;
  readonly rewritten?: RewrittenTools;
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
    const { vendor, models, defaultModel = '' } = this.config;
    return capabilitiesOf(vendor, model === '' ? defaultModel : model, models, this.wireOf(wire));
  }

  wireOf(requested?: WireName): WireName {
    return this.transportFor(requested).wire.name;
  }

  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const prepared = await this.prepare(options, false);
    const response = await this.send(userId, prepared, prepared.options.signal);
    const converted = prepared.transport.wire.fromResponse(
      parseBody(await response.text(), response),
      this.responseContext(prepared, response),
    );
    return prepared.rewritten?.restoreResponse(converted) ?? converted;
  }

  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const prepared = await this.prepare(options, true);
    const controller = new AbortController();
    const { signal } = prepared.options;
    const onAbort = (): void => controller.abort(signal?.reason);
    if (signal?.aborted === true) onAbort();
    signal?.addEventListener('abort', onAbort, { once: true });
    try {
      const response = await this.send(userId, prepared, controller.signal);
      const decoder = prepared.transport.wire.createDecoder(this.responseContext(prepared, response));
      const { rewritten } = prepared;
      // What the vendor's messages have under other names must not be relayed: structured output that came as a forced
      // tool's call, and calls of rewritten tools.
      const isRelayed =
        prepared.options.relay === true &&
        prepared.request.structuredOutputTool === undefined &&
        rewritten === undefined;
      const relay = isRelayed ? prepared.transport.wire.name : undefined;
      const limits = { ...this.config.limits, abort: (reason: unknown) => controller.abort(reason), relay };
      for await (const batch of decodeBatches(response.body, decoder, limits))
        for (const event of batch) {
          const restored = rewritten === undefined ? event : rewritten.restoreEvent(event);
          if (restored !== undefined) yield restored;
        }
    } finally {
      signal?.removeEventListener('abort', onAbort);
      // A consumer that leaves early aborts the request.
      controller.abort();
    }
  }

  async validateAccess(userId: string): Promise<boolean> {
    try {
      await this.withCredential(userId, (credential) => this.dependencies.client.probe(credential));
      return true;
    } catch (error) {
      if (error instanceof LLMError && (error.code === 'auth-failed' || error.code === 'permission-denied'))
        return false;
      throw error;
    }
  }

  listModels(userId: string, signal?: AbortSignal): Promise<readonly string[]> {
    return this.withCredential(userId, (credential) => this.dependencies.client.listModels(credential, signal));
  }

  async countTokens(userId: string, options: GenerateOptions): Promise<number | undefined> {
    const { client } = this.transportFor(options.wire);
    if (client.countTokens === undefined) return undefined;
    const prepared = await this.prepare(options, false);
    const call = this.callOf(prepared, prepared.options.signal);
    return this.withCredential(userId, async (credential) => client.countTokens?.({ ...call, credential }));
  }

  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    return requestEmbeddings(options, this.dependencies.client, this.config, (attempt) =>
      this.withCredential(userId, attempt),
    );
  }

  async relay(userId: string, request: RelayRequest): Promise<RelayResponse> {
    const { client } = this.dependencies;
    const { id, vendor } = this.config;
    if (client.relay === undefined)
      throw new UnsupportedFeatureError(`Requests to the provider "${id}" (${vendor}) cannot be relayed.`, { vendor });
    const relay = client.relay.bind(client);
    return this.withCredential(
      userId,
      once(request.body, (credential) => relay(request, credential)),
    );
  }

  /** @throws UnsupportedFeatureError for an API that stores no responses */
  async deleteResponse(userId: string, responseId: string): Promise<void> {
    const { client, wire } = this.transportFor('responses');
    if (wire.name !== 'responses' || client.deleteResponse === undefined) {
      throw new UnsupportedFeatureError(`The provider "${this.config.id}" stores no responses.`, {
        vendor: this.config.vendor,
      });
    }
    await this.withCredential(userId, async (credential) => client.deleteResponse?.(responseId, credential));
  }

  private async prepare(options: GenerateOptions, stream: boolean): Promise<PreparedCall> {
    const { vendor, quirks, allowPrivateMedia } = this.config;
    const model = options.model ?? this.config.defaultModel;
    const checked = this.dependencies.normalize(
      model === undefined || options.model !== undefined ? options : { ...options, model },
    );
    const transport = this.transportFor(checked.wire);
    const { wire } = transport;
    const isFetchedByVendor = (part: InputImage | InputFile): boolean => wire.fetchesUrl(part, quirks);
    const input = await inlineMedia(checked.input, {
      isFetchedByVendor,
      allowPrivateHosts: allowPrivateMedia,
      signal: checked.signal,
    });
    const inlined = input === checked.input ? checked : { ...checked, input };
    const rewritten = rewriteTools(inlined, [
      ...(wire.name === 'responses' && quirks.supportsToolNamespaces === true
        ? []
        : [mergeAdditionalTools, flattenNamespaces]),
      ...(quirks.supportsCustomTools === true ? [] : [offerCustomToolsAsFunctions]),
    ]);
    const normalized = rewritten?.options ?? inlined;
    const context = { vendor, quirks, capabilities: this.getCapabilities(normalized.model, wire.name) };
    const request = convertOffered(normalized, (offered) => wire.toRequest(offered, context, stream));
    return {
      transport,
      options: normalized,
      context,
      request,
      stream,
      ...(rewritten === undefined ? {} : { rewritten }),
    };
  }

  private transportFor(wire: WireName | undefined): WireTransport {
    if (wire === undefined || wire === this.config.wire) return this.dependencies;
    return this.dependencies.otherTransports?.find((each) => each.wire.name === wire) ?? this.dependencies;
  }

  private async send(
    userId: string,
    prepared: PreparedCall,
    signal: AbortSignal | undefined,
  ): Promise<VendorHttpResponse> {
    const { transport, options, request } = prepared;
    const call = this.callOf(prepared, signal);
    const exchange = this.recordExchange(prepared);
    const response = await this.withCredential(userId, async (credential) => {
      exchange?.sentWith(credential);
      try {
        return await transport.client.send({ credential, ...call });
      } catch (error) {
        exchange?.failed(error);
        throw error;
      }
    });
    const { requestId, passthroughHeaders: headers } = response;
    const { losses, warnings } = request;
    const head = { wire: transport.wire.name, headers, losses, warnings };
    options.onHead?.({ ...head, ...(requestId === undefined ? {} : { requestId }) });
    return exchange?.received(response) ?? response;
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

  private callOf(
    { options, request, stream }: PreparedCall,
    signal: AbortSignal | undefined,
  ): Omit<VendorCall, 'credential'> {
    return {
      model: options.model,
      body: request.body,
      stream,
      ...(request.headers === undefined ? {} : { headers: request.headers }),
      ...(signal === undefined ? {} : { signal }),
      ...(options.timeout === undefined ? {} : { timeout: options.timeout }),
    };
  }

  /** A rejected OAuth token is refreshed by force once. Nothing else is retried here. */
  private async withCredential<T>(
    userId: string,
    attempt: (credential: Credential | undefined) => Promise<T>,
  ): Promise<T> {
    const request = { providerId: this.config.id, userId };
    const credential = await this.dependencies.credentials.getAccessToken(request);
    try {
      return await attempt(credential);
    } catch (error) {
      if (!(error instanceof LLMAuthError) || credential?.kind !== 'bearer') throw error;
      return attempt(
        await this.dependencies.credentials.getAccessToken({
          ...request,
          forceRefresh: true,
          refusedToken: credential.token,
        }),
      );
    }
  }

  private responseContext(prepared: PreparedCall, response: VendorHttpResponse): ResponseContext {
    const { request, context, options } = prepared;
    const { requestId } = response;
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

function parseBody(text: string, response: VendorHttpResponse): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const kind = response.header('content-type') ?? 'no content type';
    throw new LLMStreamError(`The response is not JSON (${kind}, ${text.length} characters).`, {
      cause,
      status: response.status,
      ...(response.requestId === undefined ? {} : { requestId: response.requestId }),
    });
  }
}
