/** Decorates the router, and everything around it, so that each call ends with an entry in the request log. */
import { EventStream } from '../../ai/domain/events/EventStream';
import type { EventStage } from '../../ai/domain/events/EventStream';
import type { ILLMProvider } from '../../ai/domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../ai/domain/interfaces/ProviderDecorator';
import type { Embeddings, EmbedOptions } from '../../ai/domain/types/EmbeddingTypes';
import type { RelayCall, RelayResponse } from '../../ai/domain/types/RelayTypes';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { ModelPrice } from '../../ai/domain/types/ModelPrice';
import type { LLMResponse } from '../../ai/domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../ai/domain/types/StreamEvents';
import { noEmbeddings, noRelay } from '../../ai/domain/errors/noEmbeddings';
import { meteredRelay } from '../../ai/application/services/routing/meteredRelay';
import { PartialUsage } from '../../ai/application/services/routing/estimateUsage';
import { ObservedCall } from './ObservedCall';
import type { ObservedCallPorts } from './ObservedCall';

export class LoggedProvider extends ProviderDecorator {
  private readonly ports: ObservedCallPorts;

  constructor(provider: ILLMProvider, { log, routeOf }: Omit<ObservedCallPorts, 'priceOf'>) {
    super(provider);
    this.ports = { log, routeOf, priceOf: (model) => this.priceOf(model) };
  }

  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    // An earlier process has logged it.
    if (options.batch?.isCounted === true) return this.provider.generate(userId, options);
    const call = new ObservedCall(userId, options, false, this.ports);
    try {
      const response = await this.provider.generate(userId, call.options);
      call.completed(response);
      return response;
    } catch (error) {
      call.failed(error, undefined);
      throw error;
    }
  }

  /** The call starts with the first read. */
  stream(userId: string, options: GenerateOptions): EventStream {
    return EventStream.opening(() => {
      const { relayTo, ...decoded } = options;
      // A logged response needs all of its text.
      const observed = this.ports.log.recordsBodies ? decoded : options;
      const call = new ObservedCall(userId, observed, true, this.ports);
      const events = EventStream.of(this.provider.stream(userId, call.options));
      return Promise.resolve(events.through(new LoggedEvents(call, options)));
    });
  }

  /** @throws UnsupportedFeatureError for a provider without embeddings */
  override async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    if (this.provider.embed === undefined) throw noEmbeddings(this.provider);
    const call = new ObservedCall(userId, options, false, this.ports);
    try {
      const made = await this.provider.embed(userId, call.options);
      call.embedded(made);
      return made;
    } catch (error) {
      call.failed(error, undefined);
      throw error;
    }
  }

  override async relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    if (this.provider.relay === undefined) throw noRelay(this.provider);
    const call = new ObservedCall(userId, request, false, this.ports);
    try {
      const relayed = await this.provider.relay(userId, call.options);
      return meteredRelay(relayed, {
        completed: (usage) => call.relayed(relayed.requestId, usage),
        failed: (error) => (error === undefined ? call.left(undefined) : call.failed(error, undefined)),
      });
    } catch (error) {
      call.failed(error, undefined);
      throw error;
    }
  }

  private priceOf(model: string | undefined): ModelPrice | undefined {
    const route = this.ports.routeOf(model);
    return route === undefined ? undefined : this.provider.getCapabilities(model ?? route.providerId).price;
  }
}

class LoggedEvents implements EventStage {
  private readonly call: ObservedCall;
  private readonly options: GenerateOptions;
  private readonly partialUsage = new PartialUsage();
  private hasStarted = false;

  constructor(call: ObservedCall, options: GenerateOptions) {
    this.call = call;
    this.options = options;
  }

  push(event: ResponseStreamEvent, out: ResponseStreamEvent[]): void {
    this.hasStarted = true;
    this.partialUsage.add(event);
    switch (event.type) {
      case 'response.output_text.delta':
      case 'response.reasoning.delta':
      case 'response.refusal.delta':
      case 'response.tool_use.announced':
        this.call.receivedContent();
        break;
      case 'response.completed':
        this.call.completed(event.response);
        break;
      case 'response.failed':
        this.call.failed(event.error, this.partial());
        break;
      default:
    }
    out.push(event);
  }

  fail(error: unknown): unknown {
    this.call.failed(error, this.partial());
    return error;
  }

  /** Has no effect after the call has completed or failed. */
  close(): void {
    this.call.left(this.partial());
  }

  /** Estimates the usage of the output that has arrived, once it is needed. */
  private partial(): (() => ReturnType<PartialUsage['estimate']>) | undefined {
    return this.hasStarted ? () => this.partialUsage.estimate(this.options) : undefined;
  }
}
