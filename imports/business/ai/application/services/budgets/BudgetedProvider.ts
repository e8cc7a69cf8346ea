/** Decorates a provider so that limiters admit every call before it is sent, and are charged with what it used. */
import { NO_USAGE } from '../../../domain/entities/Response';
import { CHARACTERS_PER_TOKEN } from '../../../domain/charactersPerToken';
import { addUsed } from '../../../domain/entities/BudgetAccount';
import type { UsedAmount } from '../../../domain/entities/BudgetAccount';
import { isLLMError, LLMModelNotFoundError, LLMStreamError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import { consoleLogger } from '../../../domain/consoleLogger';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { Embeddings, EmbedOptions } from '../../../domain/types/EmbeddingTypes';
import type { RelayCall, RelayResponse } from '../../../domain/types/RelayTypes';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { CallCost, ModelPrice } from '../../../domain/types/ModelPrice';
import type { FailedAttempt, Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { WireName } from '../../../domain/types/VendorTypes';
import { estimateEmbeddingUsage } from '../../../domain/embeddingInput';
import { noEmbeddings, noRelay } from '../../../domain/errors/noEmbeddings';
import { normalizeInput } from '../ContentNormalizer';
import { estimateUsage, PartialUsage } from '../routing/estimateUsage';
import { meteredRelay } from '../routing/meteredRelay';
import { unreportedResponse } from '../routing/unreportedResponse';
import { LruMap } from '../shared/LruMap';
import { amountOf } from './amountOf';
import type { CallLimiter, LimitedCall, ReservationHandle } from './CallLimiter';

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
  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const call = await this.reserve(userId, options, estimatesOf(options));
    const events = this.provider.stream(userId, call?.options ?? options);
    if (call === undefined) {
      yield* events;
      return;
    }
    const partialUsage = new PartialUsage();
    let hasStarted = false;
    try {
      for await (const event of events) {
        hasStarted = true;
        partialUsage.add(event);
        if (event.type === 'response.completed') await call.settleResponse(event.response);
        yield event;
      }
    } catch (error) {
      await call.fail(error, hasStarted ? partialUsage.estimate(options.input) : undefined);
      throw error;
    } finally {
      // A consumer that leaves early has still received, and caused, the output so far.
      await call.settle(partialUsage.estimate(options.input));
    }
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

type BilledVendor = Pick<LLMResponse['vendor'], 'cost' | 'unpriced' | 'attempts'>;
type MeteredOptions = LimitedCall['options'] & Pick<GenerateOptions, 'signal' | 'onRetry'>;

/** Of a call that has not returned. */
interface Estimates {
  readonly total: () => Usage;
  /** Of its input alone. */
  readonly input: () => Usage;
}

class MeteredCall<O extends MeteredOptions = GenerateOptions> {
  /** The caller's, with a listener for what is billed before the call's end. */
  readonly options: O;
  private readonly estimates: Estimates;
  private readonly reservations: readonly ReservationHandle[];
  private readonly attempts: FailedAttempt[] = [];
  /** Of the requested model. */
  private readonly findPrice: () => ModelPrice | undefined;
  private readonly onUnpriced: (reason: string) => void;

  constructor(
    reservations: readonly ReservationHandle[],
    options: O,
    estimates: Estimates,
    findPrice: () => ModelPrice | undefined,
    onUnpriced: (reason: string) => void,
  ) {
    this.reservations = reservations;
    this.options = {
      ...options,
      onRetry: (failed) => {
        this.attempts.push(failed);
        options.onRetry?.(failed);
      },
    };
    this.estimates = estimates;
    this.findPrice = findPrice;
    this.onUnpriced = onUnpriced;
  }

  /** Charges a response, and what was received and discarded before it. */
  settleResponse({ usage, vendor }: Pick<LLMResponse, 'usage'> & { readonly vendor: BilledVendor }): Promise<void> {
    return this.settleAll([this.charge(usage, vendor), ...this.discarded(vendor.attempts ?? [])]);
  }

  /** @param usage estimated */
  settle(usage: Usage): Promise<void> {
    return this.settleAll([amountOf(usage, this.findPrice()), ...this.discarded(this.attempts)]);
  }

  /** The attempts of one call are one call, whether priced or not. */
  private async settleAll(amounts: readonly UsedAmount[]): Promise<void> {
    const charged = amounts.reduce(addUsed);
    const amount = { ...charged, calls: 1, ...(charged.unpriced === undefined ? {} : { unpriced: 1 }) };
    await Promise.all(this.reservations.map((reservation) => reservation.settle(amount)));
  }

  private async release(): Promise<void> {
    await Promise.all(this.reservations.map((reservation) => reservation.release()));
  }

  private discarded(attempts: readonly FailedAttempt[]): readonly UsedAmount[] {
    return attempts.flatMap(({ usage, ...cost }) => (usage === undefined ? [] : [this.charge(usage, cost)]));
  }

  /** A response whose cost is unknown, as of a fallback's model, is charged at the requested model's price. */
  private charge(usage: Usage, { cost, unpriced }: CallCost): UsedAmount {
    if (cost !== undefined) return { calls: 1, tokens: usage.total_tokens, money: cost };
    if (unpriced !== undefined) this.onUnpriced(unpriced);
    return amountOf(usage, this.findPrice());
  }

  /** @param partial usage of the output that had arrived */
  fail(error: unknown, partial: Usage | undefined): Promise<void> {
    const discarded = this.discarded(this.attempts);
    const response = unreportedResponse(isLLMError(error) ? error.response : undefined, this.attempts);
    if (response !== undefined) return this.settleAll([this.charge(response.usage, response.vendor), ...discarded]);
    const usage = partial ?? this.usageWithoutOutput(error);
    if (usage !== undefined) return this.settle(usage);
    return discarded.length === 0 ? this.release() : this.settleAll(discarded);
  }

  /**
   * A call that was cut off has cost its input, although no usage was reported. A call that the vendor refused is
   * free.
   */
  private usageWithoutOutput(error: unknown): Usage | undefined {
    const wasCutOff =
      this.options.signal?.aborted === true || error instanceof LLMStreamError || error instanceof LLMTimeoutError;
    return wasCutOff ? this.estimates.input() : undefined;
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
