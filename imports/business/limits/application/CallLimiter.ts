/** What may refuse or count a model call before it is sent: budgets, rate limits, lists of models. */
import type { UsedAmount } from '../../ai/domain/entities/BudgetAccount';
import type { GenerateOptions } from '../../ai/domain/types/LLMTypes';
import type { ModelPrice } from '../../ai/domain/types/ModelPrice';
import type { Usage } from '../../ai/domain/types/ResponsesAPITypes';

export interface LimitedCall {
  readonly userId: string;
  readonly options: Pick<GenerateOptions, 'model' | 'turn' | 'origin' | 'onRateLimits' | 'batch'>;
  /** The requested model, or the default one. */
  readonly model: string;
  /** What calls like it use as a rule. */
  readonly expected: () => Usage;
  /** The most that it may use. @throws LLMModelNotFoundError */
  readonly maximum: () => Usage;
  /** Returns the price of the requested model. @throws LLMModelNotFoundError */
  readonly price: () => ModelPrice | undefined;
}

/**
 * A call's reservation. Only the first call of `settle`, `leave` or `release` has an effect. What is undefined has
 * nothing to wait for.
 */
export interface ReservationHandle {
  /** Charges what the call really used. */
  settle(amount: UsedAmount): Promise<void> | undefined;
  /** Charges what was reserved, or the amount if that is more: the vendor did not say what it bills. */
  leave(amount: UsedAmount): Promise<void> | undefined;
  /** Charges nothing. */
  release(): Promise<void> | undefined;
  /** The call is charged in US dollars. */
  readonly limitsMoney?: true;
}

export interface CallLimiter {
  /**
   * Decides at once where nothing has to be read: there are many limiters, and a call of the gateway asks all of them.
   * @returns undefined for a call that is neither limited nor counted
   * @throws LLMError for a call that must not be sent
   */
  admit(call: LimitedCall): Promise<ReservationHandle | undefined> | ReservationHandle | undefined;
}
