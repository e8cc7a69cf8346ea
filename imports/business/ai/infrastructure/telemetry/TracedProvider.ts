/** Decorates the router, and everything around it, so that each model call has a span. */
import { EventStream } from '../../domain/events/EventStream';
import type { EventStage } from '../../domain/events/EventStream';
import type { EventBatch, EventBatches } from '../../domain/events/EventBatches';
import { noEmbeddings, noRelay } from '../../domain/errors/noEmbeddings';
import type { ILLMProvider } from '../../domain/interfaces/ILLMProvider';
import type { RouteOf } from '../../domain/interfaces/Instrumentation';
import { ProviderDecorator } from '../../domain/interfaces/ProviderDecorator';
import type { Embeddings, EmbedOptions } from '../../domain/types/EmbeddingTypes';
import type { GenerateOptions } from '../../domain/types/LLMTypes';
import type { RelayCall, RelayResponse } from '../../domain/types/RelayTypes';
import type { LLMResponse } from '../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../domain/types/StreamEvents';
import { hasTraceSdk, loadOpenTelemetry } from './openTelemetry';
import { ModelCallSpan } from './ModelCallSpan';
import type { CallOptions, ModelCallPorts, ModelOperation } from './ModelCallSpan';

export class TracedProvider extends ProviderDecorator {
  private readonly ports: ModelCallPorts;
  private readonly firstRouteOf: RouteOf;

  constructor(provider: ILLMProvider, ports: ModelCallPorts, firstRouteOf: RouteOf) {
    super(provider);
    this.ports = ports;
    this.firstRouteOf = firstRouteOf;
  }

  generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    if (!this.isObserved() || options.batch?.isCounted === true) return this.provider.generate(userId, options);
    return this.observed(
      'chat',
      options,
      (request) => this.provider.generate(userId, request),
      (response, call) => {
        call.completed(response);
        return response;
      },
    );
  }

  /** The call starts with the first read. */
  stream(userId: string, options: GenerateOptions): EventStream {
    if (!this.isObserved()) return EventStream.of(this.provider.stream(userId, options));
    return EventStream.opening(async () => {
      await loadOpenTelemetry();
      const call = this.begin('chat', options, true);
      const request = withRetries(options, call);
      const events = call.within(() => EventStream.of(this.provider.stream(userId, request)));
      const inContext = call.isRecording ? new EventStream(new BatchesInContext(events, call)) : events;
      return inContext.through(new TracedEvents(call));
    });
  }

  /** @throws UnsupportedFeatureError for a provider without embeddings */
  override embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    const embed = this.provider.embed?.bind(this.provider);
    if (embed === undefined) return Promise.reject(noEmbeddings(this.provider));
    if (!this.isObserved()) return embed(userId, options);
    return this.observed(
      'embeddings',
      options,
      (request) => embed(userId, request),
      (made, call) => {
        call.embedded(made);
        return made;
      },
    );
  }

  /** @throws UnsupportedFeatureError for a provider that relays nothing */
  override relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    const relay = this.provider.relay?.bind(this.provider);
    if (relay === undefined) return Promise.reject(noRelay(this.provider));
    if (!this.isObserved()) return relay(userId, request);
    return this.observed('generate_content', request, (observed) => relay(userId, observed), followed);
  }

  /** @param received what is returned for what was received */
  private async observed<O extends CallOptions, T>(
    operation: ModelOperation,
    options: O,
    send: (options: O) => Promise<T>,
    received: (value: T, call: ModelCallSpan) => T,
  ): Promise<T> {
    await loadOpenTelemetry();
    const call = this.begin(operation, options, false);
    try {
      return received(await call.within(() => send(withRetries(options, call))), call);
    } catch (error) {
      call.failed(error);
      throw error;
    }
  }

  private begin(operation: ModelOperation, options: CallOptions, isStream: boolean): ModelCallSpan {
    const route = this.firstRouteOf(options.model ?? options.providerId);
    return new ModelCallSpan(this.ports, operation, options, { isStream, route });
  }

  /** Calls cost nothing more while nobody collects what is measured. */
  private isObserved(): boolean {
    return hasTraceSdk() || this.ports.metrics.isActive();
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
    return this.call.within(() => this.batches.read());
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

/** Returns the response with a body whose end also ends the call's span. */
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
