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
export type MeteredOptions = LimitedCall['options'] & Pick<GenerateOptions, 'signal' | 'onRetry'>;

export interface MeteredCallPorts {
  /** Finds the price of the requested model. */
  readonly findPrice: () => ModelPrice | undefined;
  /** The most that the call may use. */
  readonly maximum: () => Usage;
  /** @param known the part of the cost that is known */
  readonly onUnpriced: (reason: string, known: number | undefined) => void;
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock: () => number;
}

/** Reasoning shows in no event, and costs as much as text. Models make about as many tokens per second. */
const HIDDEN_TOKENS_PER_SECOND = 50;

export class MeteredCall<O extends MeteredOptions = GenerateOptions> {
  /** The caller's, with a listener for what is billed before the call's end. */
  readonly options: O;
  private readonly estimates: Pick<CallEstimates, 'input'>;
  private readonly reservations: readonly ReservationHandle[];
  private readonly attempts: FailedAttempt[] = [];
  private readonly ports: MeteredCallPorts;
  private readonly startedAt: number;
  private outputAt: number | undefined;

  constructor(
    reservations: readonly ReservationHandle[],
    options: O,
    estimates: Pick<CallEstimates, 'input'>,
    ports: MeteredCallPorts,
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
    this.ports = ports;
    this.startedAt = ports.clock();
  }

  /** From now on, what the call makes is seen. */
  outputArrived(): void {
    this.outputAt ??= this.ports.clock();
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
   * For a call that its caller left. The vendor bills what it made until then, which is more than what had arrived: so
   * much as models make in the time until the first output is added.
   * @param partial usage of the output that had arrived
   */
  leave(partial: Usage): Promise<void> {
    const { clock, maximum } = this.ports;
    const silentMs = (this.outputAt ?? clock()) - this.startedAt;
    const hidden = Math.floor((silentMs / 1_000) * HIDDEN_TOKENS_PER_SECOND);
    if (hidden === 0) return this.settle(partial);
    const most = Math.max(maximum().output_tokens, partial.output_tokens);
    const output_tokens = Math.min(partial.output_tokens + hidden, most);
    return this.settle({ ...partial, output_tokens, total_tokens: partial.input_tokens + output_tokens });
  }

  /** The attempts of one call are one call, whether priced or not. */
  private async settleAll(amounts: readonly UsedAmount[]): Promise<void> {
    const charged = amounts.reduce(addUsed);
    const unpriced = charged.unpriced === undefined ? undefined : 1;
    const amount = omitUndefined({ ...charged, calls: 1, unpriced });
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
    const usage = partial ?? this.usageWithoutOutput(error);
    if (usage !== undefined) return this.options.signal?.aborted === true ? this.leave(usage) : this.settle(usage);
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
