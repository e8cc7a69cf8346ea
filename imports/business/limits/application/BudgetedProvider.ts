/** Decorates a provider so that limiters admit every call before it is sent, and are charged with what it used. */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../ai/domain/util/growingCapacity';
import { NO_USAGE } from '../../ai/domain/entities/Response';
import { EventStream } from '../../ai/domain/events/EventStream';
import { FairLruMap } from '../../ai/domain/util/FairLruMap';
import { LLMModelNotFoundError } from '../../ai/domain/errors/LLMErrors';
import { consoleLogger } from '../../../log/consoleLogger';
import type { DefaultedProvider } from '../../ai/domain/interfaces/ILLMProvider';
import { ProviderDecorator } from '../../ai/domain/interfaces/ProviderDecorator';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import type { Embeddings, EmbedOptions } from '../../ai/domain/types/EmbeddingTypes';
import type { RelayCall, RelayResponse } from '../../ai/domain/types/RelayTypes';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { ModelPrice } from '../../ai/domain/types/ModelPrice';
import type { LLMResponse, Usage } from '../../ai/domain/types/ResponsesAPITypes';
import { noEmbeddings, noRelay } from '../../ai/domain/errors/noEmbeddings';
import { meteredRelay } from '../../ai/application/services/routing/meteredRelay';
import { BudgetedEvents } from './BudgetedEvents';
import { estimatesOfEmbedding, estimatesOfGeneration, estimatesOfRelay } from './callEstimates';
import type { CallEstimates } from './callEstimates';
import type { CallLimiter, LimitedCall, ReservationHandle } from './CallLimiter';
import { MeteredCall } from './MeteredCall';
import type { MeteredOptions } from './MeteredCall';

/** Reasons that are remembered, so that each is logged once. */
const MAX_WARNINGS = 1_000;
const MAX_CONVERSATIONS = 10_000;

export class BudgetedProvider extends ProviderDecorator<DefaultedProvider> {
  private readonly limiters: readonly CallLimiter[];
  private readonly logger: Logger;
  private readonly warned = new LRUCache<string, true>(growingCapacity(MAX_WARNINGS));
  /** Tokens of conversations, by the ids of the responses up to which they reach. */
  private readonly conversations = new FairLruMap<number>({ entries: MAX_CONVERSATIONS });

  /**
   * @param limiters in the order in which they admit a call
   */
  constructor(provider: DefaultedProvider, limiters: readonly CallLimiter[], logger: Logger = consoleLogger) {
    super(provider);
    this.logger = logger;
    this.limiters = limiters;
  }

  /** @throws what the limiters throw, before anything is sent; whatever the provider throws */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    // An earlier process has charged it.
    if (options.batch?.isCounted === true) return this.provider.generate(userId, options);
    const call = await this.reserve(
      userId,
      options,
      estimatesOfGeneration(options, this.continuedTokens(userId, options)),
    );
    if (call === undefined) return this.provider.generate(userId, options);
    try {
      const response = await this.provider.generate(userId, call.options);
      this.remember(userId, response);
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
      const continuedTokens = this.continuedTokens(userId, options);
      const call = await this.reserve(userId, options, estimatesOfGeneration(options, continuedTokens));
      const events = EventStream.of(this.provider.stream(userId, call?.options ?? options));
      if (call === undefined) return events;
      const onResponse = (response: LLMResponse): void => this.remember(userId, response);
      return new BudgetedEvents(events, call, { options, continuedTokens, onResponse });
    });
  }

  /** @throws what the limiters throw, before anything is sent; whatever the provider throws */
  override async embed(userId: string, options: EmbedOptions): Promise<Embeddings> {
    if (this.provider.embed === undefined) throw noEmbeddings(this.provider);
    const call = await this.reserve(userId, options, estimatesOfEmbedding(options));
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
  override async relay(userId: string, request: RelayCall): Promise<RelayResponse> {
    if (this.provider.relay === undefined) throw noRelay(this.provider);
    const estimates = estimatesOfRelay(request);
    const call = await this.reserve(userId, request, estimates);
    if (call === undefined) return this.provider.relay(userId, request);
    try {
      return meteredRelay(await this.provider.relay(userId, call.options), {
        completed: (usage) => call.settle(usage ?? NO_USAGE),
        // What the vendor makes is counted at the end only.
        failed: () => call.settle(estimates.expected()),
      });
    } catch (error) {
      await call.fail(error, undefined);
      throw error;
    }
  }

  private remember(userId: string, { id, usage }: LLMResponse): void {
    this.conversations.set(userId, id, usage.total_tokens);
  }

  private continuedTokens(userId: string, { previous_response_id: previousId }: GenerateOptions): number | undefined {
    return previousId === undefined ? undefined : this.conversations.get(userId, previousId);
  }

  /** Once for each reason, which names the model. */
  private warnOfUnpriced(reason: string, known: number | undefined, requestedModel: string): void {
    if (this.warned.has(reason)) return;
    this.warned.set(reason, true);
    this.logger.warn(
      known === undefined
        ? `The cost of a model call is unknown (${reason}), so a budget in US dollars charges it at the price of "${requestedModel}".`
        : `A part of the cost of a model call is unknown (${reason}), so budgets in US dollars do not charge it.`,
    );
  }

  /** @returns undefined for a call that is neither limited nor counted */
  private async reserve<O extends MeteredOptions>(
    userId: string,
    options: O,
    estimates: CallEstimates,
  ): Promise<MeteredCall<O> | undefined> {
    const model = options.model ?? this.provider.defaultModel;
    let expected: Usage | undefined;
    let maximum: Usage | undefined;
    let known: { readonly price: ModelPrice | undefined } | undefined;
    const call: LimitedCall = {
      userId,
      options,
      model,
      expected: () => (expected ??= estimates.expected()),
      maximum: () => (maximum ??= estimates.maximum(this.provider.getCapabilities(model))),
      price: () => (known ??= { price: this.provider.getCapabilities(model).price }).price,
    };
    const reservations: ReservationHandle[] = [];
    try {
      for (const limiter of this.limiters) {
        const admitted = limiter.admit(call);
        const reservation = admitted instanceof Promise ? await admitted : admitted;
        if (reservation !== undefined) reservations.push(reservation);
      }
    } catch (error) {
      await Promise.all(reservations.flatMap((reservation) => reservation.release() ?? []));
      throw error;
    }
    if (reservations.length === 0) return undefined;
    const limitsMoney = reservations.some((reservation) => reservation.limitsMoney === true);
    return new MeteredCall(reservations, options, estimates, {
      findPrice: () => (known === undefined ? this.priceOf(options) : known.price),
      onUnpriced: limitsMoney ? (reason, known) => this.warnOfUnpriced(reason, known, model) : () => undefined,
    });
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
