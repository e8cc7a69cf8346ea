/** Decorates the router, and everything around it, so that each model call has a span. */
import { context } from '@opentelemetry/api';
import { EventStream } from '../../domain/EventStream';
import type { EventStage } from '../../domain/EventStream';
import type { EventBatch, EventBatches } from '../../domain/EventBatches';
import { noEmbeddings, noRelay } from '../../domain/errors/noEmbeddings';
import type { ILLMProvider, ModelCapabilities } from '../../domain/interfaces/ILLMProvider';
import type { Embeddings, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { RelayCall, RelayResponse } from '../../domain/types/RelayTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import type { WireName } from '../../domain/types/VendorTypes';
import { hasTraceSdk } from './installedSdk';
import { ModelCallSpan } from './ModelCallSpan';
import type { ModelCallPorts } from './ModelCallSpan';

export class TracedProvider implements ILLMProvider {
  readonly retriesFailedCalls: boolean;
  private readonly provider: ILLMProvider;
  private readonly ports: ModelCallPorts;

  constructor(provider: ILLMProvider, ports: ModelCallPorts) {
    this.provider = provider;
    this.retriesFailedCalls = provider.retriesFailedCalls ?? false;
    this.ports = ports;
  }

  getProviderName(): string {
    return this.provider.getProviderName();
  }

  generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    return this.isObserved() ? this.observedGenerate(userId, options) : this.provider.generate(userId, options);
  }

  private async observedGenerate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const call = new ModelCallSpan(this.ports, 'chat', options, false);
    try {
      const observed = withRetries(options, call);
      const response = await context.with(call.context, () => this.provider.generate(userId, observed));
      call.completed(response);
      return response;
    } catch (error) {
      call.failed(error);
      throw error;
    }
  }

  /** The call starts with the first read. */
  stream(userId: string, options: GenerateOptions): EventStream {
    if (!this.isObserved()) return EventStream.of(this.provider.stream(userId, options));
    return EventStream.opening(() => {
      const call = new ModelCallSpan(this.ports, 'chat', options, true);
      const observed = withRetries(options, call);
      const events = context.with(call.context, () => EventStream.of(this.provider.stream(userId, observed)));
      const inContext = call.isRecording ? new EventStream(new BatchesInContext(events, call)) : events;
      return Promise.resolve(inContext.through(new TracedEvents(call)));
    });
  }

  /** @throws UnsupportedFeatureError for a provider without embeddings */
  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    const { provider } = this;
    if (provider.embed === undefined) throw noEmbeddings(provider);
    if (!this.isObserved()) return provider.embed(userId, options);
    const call = new ModelCallSpan(this.ports, 'embeddings', options, false);
    try {
      const observed = withRetries(options, call);
      const made = await context.with(call.context, () => provider.embed?.(userId, observed));
      if (made === undefined) throw noEmbeddings(provider);
      call.embedded(made);
      return made;
    } catch (error) {
      call.failed(error);
      throw error;
    }
  }

  /** @throws UnsupportedFeatureError for a provider that relays nothing */
  async relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    const { provider } = this;
    if (provider.relay === undefined) throw noRelay(provider);
    if (!this.isObserved()) return provider.relay(userId, request);
    const call = new ModelCallSpan(this.ports, 'generate_content', { ...request, input: undefined }, false);
    try {
      const observed = withRetries(request, call);
      const relayed = await context.with(call.context, () => provider.relay?.(userId, observed));
      if (relayed === undefined) throw noRelay(provider);
      return followed(relayed, call);
    } catch (error) {
      call.failed(error);
      throw error;
    }
  }

  /** Calls cost nothing more while nobody collects what is measured. */
  private isObserved(): boolean {
    return hasTraceSdk() || this.ports.metrics.isActive();
  }

  validateAccess(userId: string): Promise<boolean> {
    return this.provider.validateAccess(userId);
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return this.provider.getCapabilities(model, wire);
  }

  async deleteResponse(userId: string, responseId: string): Promise<void> {
    await this.provider.deleteResponse?.(userId, responseId);
  }
}

function withRetries<O extends Pick<GenerateOptions, 'onRetry'>>(options: O, call: ModelCallSpan): O {
  return call.isRecording ? { ...options, onRetry: call.retryListener() } : options;
}

/** What a stream does, such as sending the request, happens when it is read. */
class BatchesInContext implements EventBatches {
  private readonly batches: EventBatches;
  private readonly call: ModelCallSpan;

  constructor(batches: EventBatches, call: ModelCallSpan) {
    this.batches = batches;
    this.call = call;
  }

  read(): Promise<EventBatch | undefined> {
    return context.with(this.call.context, () => this.batches.read());
  }

  close(): Promise<void> {
    return this.batches.close();
  }
}

class TracedEvents implements EventStage {
  private readonly call: ModelCallSpan;

  constructor(call: ModelCallSpan) {
    this.call = call;
  }

  push(event: ResponseStreamEvent, out: ResponseStreamEvent[]): void {
    this.call.receivedChunk();
    if (event.type === 'response.completed') this.call.completed(event.response);
    if (event.type === 'response.failed') this.call.failed(event.error);
    out.push(event);
  }

  fail(error: unknown): unknown {
    this.call.failed(error);
    return error;
  }

  /** Has no effect after the call has completed or failed. */
  close(): void {
    this.call.failed(undefined);
  }
}

/** Its span ends with its body. */
function followed(relayed: RelayResponse, call: ModelCallSpan): RelayResponse {
  return {
    status: relayed.status,
    header: (name) => relayed.header(name),
    requestId: relayed.requestId,
    passthroughHeaders: relayed.passthroughHeaders,
    async text() {
      try {
        const text = await relayed.text();
        call.relayed();
        return text;
      } catch (error) {
        call.failed(error);
        throw error;
      }
    },
    body: followedBody(relayed.body, call),
  };
}

async function* followedBody(body: AsyncIterable<Uint8Array>, call: ModelCallSpan): AsyncGenerator<Uint8Array> {
  try {
    yield* body;
    call.relayed();
  } catch (error) {
    call.failed(error);
    throw error;
  } finally {
    call.failed(undefined);
  }
}
