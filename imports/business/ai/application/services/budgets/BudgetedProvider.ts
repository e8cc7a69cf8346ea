/** Decorates a provider so that every call reserves a share of its user's budget before it is sent. */
import type { BudgetLimits } from '../../../domain/entities/BudgetAccount';
import { costOf } from '../../../domain/entities/Response';
import { BudgetError, isLLMError, LLMStreamError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { ILLMProvider, ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { WireName } from '../../../domain/types/VendorTypes';
import { normalizeInput } from '../ContentNormalizer';
import { CHARACTERS_PER_TOKEN, estimateUsage, PartialUsage } from '../routing/estimateUsage';
import type { BudgetReservations, ReservationHandle } from './BudgetReservations';

/** Tokens reserved for the output of a request without `max_output_tokens`. */
const DEFAULT_OUTPUT_TOKENS = 1_000;

/** A provider that knows which model it calls when a request names none. */
export type ProviderWithDefault = ILLMProvider & { readonly defaultModel: string };

export class BudgetedProvider implements ILLMProvider {
  readonly retriesFailedCalls: boolean;
  private readonly provider: ProviderWithDefault;
  private readonly budgets: BudgetReservations;

  constructor(provider: ProviderWithDefault, budgets: BudgetReservations) {
    this.provider = provider;
    this.retriesFailedCalls = provider.retriesFailedCalls ?? false;
    this.budgets = budgets;
  }

  getProviderName(): string {
    return this.provider.getProviderName();
  }

  /** @throws BudgetError before anything is sent; whatever the provider throws */
  async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const call = await this.reserve(userId, options);
    if (call === undefined) return this.provider.generate(userId, options);
    try {
      const response = await this.provider.generate(userId, options);
      await call.settle(response.usage);
      return response;
    } catch (error) {
      await call.fail(error, undefined);
      throw error;
    }
  }

  /** @throws BudgetError before anything is sent; whatever the provider throws */
  async *stream(userId: string, options: GenerateOptions): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const call = await this.reserve(userId, options);
    const events = this.provider.stream(userId, options);
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
        if (event.type === 'response.completed') await call.settle(event.response.usage);
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

  validateAccess(userId: string): Promise<boolean> {
    return this.provider.validateAccess(userId);
  }

  getCapabilities(model: string, wire?: WireName): ModelCapabilities {
    return this.provider.getCapabilities(model, wire);
  }

  async deleteResponse(userId: string, responseId: string): Promise<void> {
    await this.provider.deleteResponse?.(userId, responseId);
  }

  /** @returns undefined for a user without limits */
  private async reserve(userId: string, options: GenerateOptions): Promise<MeteredCall | undefined> {
    const limits = this.budgets.limitsOf(userId);
    if (limits === undefined) return undefined;
    const model = options.model ?? this.provider.defaultModel;
    const { price } = this.provider.getCapabilities(model);
    if (price === undefined && limitsMoney(limits))
      throw new BudgetError(
        `The price of the model "${model}" is unknown, so a budget in US dollars can't be enforced.`,
      );
    const { turn } = options;
    const estimate = amountOf(estimateOf(options), price);
    const reservation = await this.budgets.reserve(
      { userId, estimate, ...(turn === undefined ? {} : { turn }) },
      limits,
    );
    return new MeteredCall(reservation, options, price);
  }
}

class MeteredCall {
  private readonly reservation: ReservationHandle;
  private readonly options: GenerateOptions;
  private readonly price: ModelCapabilities['price'];

  constructor(reservation: ReservationHandle, options: GenerateOptions, price: ModelCapabilities['price']) {
    this.reservation = reservation;
    this.options = options;
    this.price = price;
  }

  settle(usage: Usage): Promise<void> {
    return this.reservation.settle(amountOf(usage, this.price));
  }

  /** @param partial usage of the output that had arrived */
  fail(error: unknown, partial: Usage | undefined): Promise<void> {
    const usage =
      isLLMError(error) && error.response !== undefined
        ? error.response.usage
        : (partial ?? this.usageWithoutOutput(error));
    return usage === undefined ? this.reservation.release() : this.settle(usage);
  }

  /**
   * A call that was cut off has cost its input, although no usage was reported. A call that the vendor refused is
   * free.
   */
  private usageWithoutOutput(error: unknown): Usage | undefined {
    const wasCutOff =
      this.options.signal?.aborted === true || error instanceof LLMStreamError || error instanceof LLMTimeoutError;
    return wasCutOff ? estimateUsage(itemsOf(this.options), 0) : undefined;
  }
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

function amountOf(usage: Usage, price: ModelCapabilities['price']): { calls: number; tokens: number; money: number } {
  return { calls: 1, tokens: usage.total_tokens, money: price === undefined ? 0 : costOf(usage, price) };
}

function limitsMoney({ day, month }: BudgetLimits): boolean {
  return day?.money !== undefined || month?.money !== undefined;
}
