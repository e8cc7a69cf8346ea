/** Decorates a provider so that limiters admit every call before it is sent, and are charged with what it used. */
import { NO_USAGE } from '../../../domain/entities/Response';
import { CHARACTERS_PER_TOKEN } from '../../../domain/charactersPerToken';
import { EventStream } from '../../../domain/EventStream';
import type { EventBatch, EventBatches } from '../../../domain/EventBatches';
import { LLMModelNotFoundError } from '../../../domain/errors/LLMErrors';
import { consoleLogger } from '../../../domain/consoleLogger';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';
import type { RelayCall, RelayResponse } from '../../../domain/types/RelayTypes';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { ModelPrice } from '../../../domain/types/ModelPrice';
import type { Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { WireName } from '../../../domain/types/VendorTypes';
import { estimateEmbeddingUsage } from '../../../domain/embeddingInput';
import { noEmbeddings, noRelay } from '../../../domain/errors/noEmbeddings';
import { normalizeInput } from '../ContentNormalizer';
import { estimateUsage, PartialUsage } from '../routing/estimateUsage';
import { meteredRelay } from '../routing/meteredRelay';
import { LruMap } from '../shared/LruMap';
import type { CallLimiter, LimitedCall, ReservationHandle } from './CallLimiter';
import { MeteredCall } from './MeteredCall';
import type { Estimates, MeteredOptions } from './MeteredCall';

/** Tokens reserved for the output of a request without `max_output_tokens`. */
const DEFAULT_OUTPUT_TOKENS = 1_000;
/** Reasons that are remembered, so that each is logged once. */
const MAX_WARNINGS = 1_000;

/** A provider that knows which model it calls when a request names none. */
export type ProviderWithDefault = ILLMProvider & { readonly defaultModel: string };

export class BudgetedProvider implements ILLMProvider {
  readonly retriesFailedCalls: boolean;
  private readonly provider: ProviderWithDefault;
  private readonly limiters: readonly CallLimiter[];
  private readonly logger: Logger;
  private readonly warned = new LruMap<string, true>(MAX_WARNINGS);

  /** @param limiters in the order in which they admit a call */
  constructor(provider: ProviderWithDefault, limiters: readonly CallLimiter[], logger: Logger = consoleLogger) {
    this.provider = provider;
    this.logger = logger;
    this.retriesFailedCalls = provider.retriesFailedCalls ?? false;
    this.limiters = limiters;
  }

  getProviderName(): string {
    return this.provider.getProviderName();
  }

  /** @throws what the limiters throw, before anything is sent; whatever the provider throws */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const call = await this.reserve(userId, options, estimatesOf(options));
    if (call === undefined) return this.provider.generate(userId, options);
    try {
      const response = await this.provider.generate(userId, call.options);
      await call.settleResponse(response);
      return response;
    } catch (error) {
      await call.fail(error, undefined);
      throw error;
    }
  }

  /** @throws what the limiters throw, before anything is sent; whatever the provider throws */
  stream(userId: string, options: GenerateOptions): EventStream {
    return EventStream.opening(async () => {
      const call = await this.reserve(userId, options, estimatesOf(options));
      const events = EventStream.of(this.provider.stream(userId, call?.options ?? options));
      return call === undefined ? events : new BudgetedEvents(events, call, options);
    });
  }

  /** @throws what the limiters throw, before anything is sent; whatever the provider throws */
  async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    if (this.provider.embed === undefined) throw noEmbeddings(this.provider);
    const call = await this.reserve(userId, options, {
      total: () => estimateEmbeddingUsage(options),
      input: () => estimateEmbeddingUsage(options),
    });
    if (call === undefined) return this.provider.embed(userId, options);
    try {
      const made = await this.provider.embed(userId, call.options);
      await call.settleResponse(made);
      return made;
    } catch (error) {
      await call.fail(error, undefined);
      throw error;
    }
  }

  /** @throws what the limiters throw, before anything is sent; whatever the provider throws */
  async relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    if (this.provider.relay === undefined) throw noRelay(this.provider);
    const call = await this.reserve(userId, request, {
      total: () => estimateUsage([], DEFAULT_OUTPUT_TOKENS * CHARACTERS_PER_TOKEN),
      input: () => NO_USAGE,
    });
    if (call === undefined) return this.provider.relay(userId, request);
    try {
      return meteredRelay(await this.provider.relay(userId, call.options), {
        completed: (usage) => call.settle(usage ?? NO_USAGE),
        failed: () => call.settle(NO_USAGE),
      });
    } catch (error) {
      await call.fail(error, undefined);
      throw error;
    }
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

  /** Once for each reason, which names the model. */
  private warnOfUnpriced(reason: string, requestedModel: string): void {
    if (this.warned.get(reason) === true) return;
    this.warned.set(reason, true);
    this.logger.warn(
      `The cost of a model call is unknown (${reason}), so a budget in US dollars charges it at the price of "${requestedModel}".`,
    );
  }

  /** @returns undefined for a call that is neither limited nor counted */
  private async reserve<O extends MeteredOptions>(
    userId: string,
    options: O,
    estimates: Estimates,
  ): Promise<MeteredCall<O> | undefined> {
    const model = options.model ?? this.provider.defaultModel;
    let estimate: Usage | undefined;
    let known: { readonly price: ModelPrice | undefined } | undefined;
    const call: LimitedCall = {
      userId,
      options,
      model,
      estimate: () => (estimate ??= estimates.total()),
      price: () => (known ??= { price: this.provider.getCapabilities(model).price }).price,
    };
    const reservations: ReservationHandle[] = [];
    try {
      for (const limiter of this.limiters) {
        const reservation = await limiter.admit(call);
        if (reservation !== undefined) reservations.push(reservation);
      }
    } catch (error) {
      await Promise.all(reservations.map((reservation) => reservation.release()));
      throw error;
    }
    if (reservations.length === 0) return undefined;
    const limitsMoney = reservations.some((reservation) => reservation.limitsMoney === true);
    return new MeteredCall(
      reservations,
      options,
      estimates,
      () => (known === undefined ? this.priceOf(options) : known.price),
      limitsMoney ? (reason) => this.warnOfUnpriced(reason, model) : () => undefined,
    );
  }

  /** Undefined, too, for a provider that was removed during the call. */
  private priceOf({ model = this.provider.defaultModel }: MeteredOptions): ModelPrice | undefined {
    try {
      return this.provider.getCapabilities(model).price;
    } catch (error) {
      if (error instanceof LLMModelNotFoundError) return undefined;
      throw error;
    }
  }
}

/** Charges a stream before its last event is passed on, and when it fails or its consumer leaves. */
class BudgetedEvents implements EventBatches {
  private readonly events: EventStream;
  private readonly call: MeteredCall;
  private readonly options: GenerateOptions;
  private readonly partialUsage = new PartialUsage();
  private hasStarted = false;
  private isSettled = false;
  private held: EventBatch | undefined;

  constructor(events: EventStream, call: MeteredCall, options: GenerateOptions) {
    this.events = events;
    this.call = call;
    this.options = options;
  }

  async read(): Promise<EventBatch | undefined> {
    try {
      const batch = this.held ?? (await this.events.read());
      this.held = undefined;
      if (batch === undefined) await this.settle(() => this.call.settle(this.partial()));
      return batch && (await this.charged(batch));
    } catch (error) {
      await this.settle(() => this.call.fail(error, this.hasStarted ? this.partial() : undefined));
      throw error;
    }
  }

  /** A consumer that leaves early has still received, and caused, the output so far. */
  async close(): Promise<void> {
    try {
      await this.events.close();
    } finally {
      await this.settle(() => this.call.settle(this.partial()));
    }
  }

  /** Events must not wait until the response behind them is charged, so it is held back for the next read. */
  private async charged(batch: EventBatch): Promise<EventBatch> {
    const end = batch.findIndex(({ type }) => type === 'response.completed');
    const completed = batch[end];
    if (completed?.type === 'response.completed' && end === 0)
      await this.settle(() => this.call.settleResponse(completed.response));
    if (end > 0) this.held = batch.slice(end);
    const passed = end > 0 ? batch.slice(0, end) : batch;
    this.hasStarted = true;
    for (const event of passed) this.partialUsage.add(event);
    return passed;
  }

  private async settle(charge: () => Promise<void>): Promise<void> {
    if (this.isSettled) return;
    await charge();
    this.isSettled = true;
  }

  private partial(): Usage {
    return this.partialUsage.estimate(this.options);
  }
}

function estimatesOf(options: GenerateOptions): Estimates {
  return { total: () => estimateOf(options), input: () => estimateUsage(itemsOf(options), 0) };
}

function estimateOf(options: GenerateOptions): Usage {
  const { instructions = '', max_output_tokens = DEFAULT_OUTPUT_TOKENS } = options;
  const usage = estimateUsage(itemsOf(options), max_output_tokens * CHARACTERS_PER_TOKEN);
  const input_tokens = usage.input_tokens + Math.ceil(instructions.length / CHARACTERS_PER_TOKEN);
  return { ...usage, input_tokens, total_tokens: input_tokens + usage.output_tokens };
}

/** Normalized input is cached. Images and files count by the length of their text, which is an upper bound. */
function itemsOf({ input }: GenerateOptions): readonly Item[] {
  return normalizeInput(input);
}
