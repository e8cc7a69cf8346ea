/** A call that limiters have admitted: what it used is charged to all of them. */
import { addUsed } from '../../ai/domain/entities/BudgetAccount';
import type { UsedAmount } from '../../ai/domain/entities/BudgetAccount';
import { isLLMError, LLMStreamError, LLMTimeoutError } from '../../ai/domain/errors/LLMErrors';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { CallCost, ModelPrice } from '../../ai/domain/types/ModelPrice';
import type { FailedAttempt, LLMResponse, Usage } from '../../ai/domain/types/ResponsesAPITypes';
import { unreportedResponse } from '../../ai/application/services/routing/unreportedResponse';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import { amountOf } from './amountOf';
import type { CallEstimates } from './callEstimates';
import type { LimitedCall, ReservationHandle } from './CallLimiter';

type BilledVendor = Pick<LLMResponse['vendor'], 'cost' | 'unpriced' | 'attempts'>;
export type MeteredOptions = LimitedCall['options'] & Pick<GenerateOptions, 'signal' | 'onAttempt' | 'onRetry'>;

export interface MeteredCallPorts {
  /** Finds the price of the requested model. */
  readonly findPrice: () => ModelPrice | undefined;
  /** @param known the part of the cost that is known */
  readonly onUnpriced: (reason: string, known: number | undefined) => void;
}

export class MeteredCall<O extends MeteredOptions = GenerateOptions> {
  /** The caller's, with a listener for what is billed before the call's end. */
  readonly options: O;
  private readonly estimates: Pick<CallEstimates, 'input'>;
  private readonly reservations: readonly ReservationHandle[];
  private readonly attempts: FailedAttempt[] = [];
  private readonly ports: MeteredCallPorts;
  /** An attempt has begun and not failed: the vendor may bill it. */
  private isAsked = true;

  constructor(
    reservations: readonly ReservationHandle[],
    options: O,
    estimates: Pick<CallEstimates, 'input'>,
    ports: MeteredCallPorts,
  ) {
    this.reservations = reservations;
    this.options = {
      ...options,
      onAttempt: (attempt) => {
        this.isAsked = true;
        options.onAttempt?.(attempt);
      },
      onRetry: (failed) => {
        this.isAsked = false;
        this.attempts.push(failed);
        options.onRetry?.(failed);
      },
    };
    this.estimates = estimates;
    this.ports = ports;
  }

  /** Charges a response, and what was received and discarded before it. */
  settleResponse({ usage, vendor }: Pick<LLMResponse, 'usage'> & { readonly vendor: BilledVendor }): Promise<void> {
    return this.settleAll([this.charge(usage, vendor), ...this.discarded(vendor.attempts ?? [])]);
  }

  /** @param usage estimated */
  settle(usage: Usage): Promise<void> {
    return this.settleAll([amountOf(usage, this.ports.findPrice()), ...this.discarded(this.attempts)]);
  }

  /**
   * For a call that its caller left, or gave no more time: the vendor may bill what it makes all the same.
   * @param partial usage of the output that had arrived
   */
  leave(partial: Usage): Promise<void> {
    const amount = amountOf(partial, this.ports.findPrice());
    return this.settleAll([amount, ...this.discarded(this.attempts)], 'leave');
  }

  /** The attempts of one call are one call, whether priced or not. */
  private async settleAll(amounts: readonly UsedAmount[], how: 'settle' | 'leave' = 'settle'): Promise<void> {
    const charged = amounts.reduce(addUsed);
    const unpriced = charged.unpriced === undefined ? undefined : 1;
    const amount = omitUndefined({ ...charged, calls: 1, unpriced });
    const charging = this.reservations.flatMap((reservation) => reservation[how](amount) ?? []);
    if (charging.length > 0) await Promise.all(charging);
  }

  private async release(): Promise<void> {
    await Promise.all(this.reservations.flatMap((reservation) => reservation.release() ?? []));
  }

  private discarded(attempts: readonly FailedAttempt[]): readonly UsedAmount[] {
    return attempts.flatMap(({ usage, ...cost }) => (usage === undefined ? [] : [this.charge(usage, cost)]));
  }

  /** A response whose cost is unknown, as of a fallback's model, is charged at the requested model's price. */
  private charge(usage: Usage, { cost, unpriced }: CallCost): UsedAmount {
    if (unpriced !== undefined) this.ports.onUnpriced(unpriced, cost);
    if (cost === undefined) return amountOf(usage, this.ports.findPrice());
    const known = { calls: 1, tokens: usage.total_tokens, money: cost };
    return unpriced === undefined ? known : { ...known, unpriced: 1 };
  }

  /** @param partial usage of the output that had arrived */
  fail(error: unknown, partial: Usage | undefined): Promise<void> {
    const discarded = this.discarded(this.attempts);
    const response = unreportedResponse(isLLMError(error) ? error.response : undefined, this.attempts);
    if (response !== undefined) return this.settleAll([this.charge(response.usage, response.vendor), ...discarded]);
    const isLeft = this.options.signal?.aborted === true || error instanceof LLMTimeoutError;
    if (isLeft && (this.isAsked || partial !== undefined)) return this.leave(partial ?? this.estimates.input());
    // A call that the vendor refused is free. One that was cut off has cost its input, although no usage was reported.
    const usage = partial ?? (error instanceof LLMStreamError ? this.estimates.input() : undefined);
    if (usage !== undefined) return this.settle(usage);
    return discarded.length === 0 ? this.release() : this.settleAll(discarded);
  }
}
