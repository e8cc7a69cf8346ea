/** A call that limiters have admitted: what it used is charged to all of them. */
import { addUsed } from '../../../domain/entities/BudgetAccount';
import type { UsedAmount } from '../../../domain/entities/BudgetAccount';
import { isLLMError, LLMStreamError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { CallCost, ModelPrice } from '../../../domain/types/ModelPrice';
import type { FailedAttempt, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import { unreportedResponse } from '../routing/unreportedResponse';
import { amountOf } from './amountOf';
import type { LimitedCall, ReservationHandle } from './CallLimiter';

type BilledVendor = Pick<LLMResponse['vendor'], 'cost' | 'unpriced' | 'attempts'>;
export type MeteredOptions = LimitedCall['options'] & Pick<GenerateOptions, 'signal' | 'onRetry'>;

/** Of a call that has not returned. */
export interface Estimates {
  readonly total: () => Usage;
  /** Of its input alone. */
  readonly input: () => Usage;
}

export class MeteredCall<O extends MeteredOptions = GenerateOptions> {
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
