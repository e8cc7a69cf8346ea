/**
 * A manager that no call passes without a share of its user's budget: runs, texts, typed values and what clients
 * ask over HTTP alike.
 */
import type { BudgetLimits } from '../../../domain/entities/BudgetAccount';
import { costOf } from '../../../domain/costOf';
import { BudgetError, isLLMError, LLMStreamError, LLMTimeoutError } from '../../../domain/errors/LLMErrors';
import type { ModelCapabilities } from '../../../domain/interfaces/ILLMProvider';
import type { GenerateOptions } from '../../../domain/types/LLMTypes';
import type { Item, LLMResponse, Usage } from '../../../domain/types/ResponsesAPITypes';
import type { ResponseStreamEvent } from '../../../domain/types/StreamEvents';
import type { BudgetReservations, ReservationHandle } from './BudgetReservations';
import { normalizeInput } from '../ContentNormalizer';
import { estimatedUsage } from '../routing/estimateUsage';
import { PartialUsage } from '../InterruptedUsage';
import { LLMManager } from '../LLMManager';
import type { LLMManagerOptions } from '../LLMManager';

/** What an answer is taken to need where the caller sets no limit, in tokens. */
const USUAL_OUTPUT = 1_000;
const CHARACTERS_PER_TOKEN = 4;

export class BudgetedManager extends LLMManager {
  private readonly budgets: BudgetReservations;

  constructor({ budgets, ...options }: LLMManagerOptions & { readonly budgets: BudgetReservations }) {
    super(options);
    this.budgets = budgets;
  }

  /** @throws BudgetError before anything goes out */
  override async generate(userId: string, options: GenerateOptions): Promise<LLMResponse> {
    const call = await this.begin(userId, options);
    if (call === undefined) return super.generate(userId, options);
    try {
      const response = await super.generate(userId, options);
      await call.settle(response.usage);
      return response;
    } catch (error) {
      await call.fail(error, undefined);
      throw error;
    }
  }

  /** @throws BudgetError before anything goes out */
  override async *stream(
    userId: string,
    options: GenerateOptions,
  ): AsyncGenerator<ResponseStreamEvent, void, undefined> {
    const call = await this.begin(userId, options);
    if (call === undefined) return yield* super.stream(userId, options);
    const told = new PartialUsage();
    let hasBegun = false;
    try {
      for await (const event of super.stream(userId, options)) {
        hasBegun = true;
        told.add(event);
        if (event.type === 'response.completed') await call.settle(event.response.usage);
        yield event;
      }
    } catch (error) {
      await call.fail(error, hasBegun ? told.estimate(options.input) : undefined);
      throw error;
    } finally {
      // Whoever leaves has had, and caused, what came until then.
      await call.settle(told.estimate(options.input));
    }
  }

  private async begin(userId: string, options: GenerateOptions): Promise<MeteredCall | undefined> {
    const limits = this.budgets.limitsOf(userId);
    if (limits === undefined) return undefined;
    const model = options.model ?? this.defaultModel;
    const { price } = this.getCapabilities(model);
    if (price === undefined && limitsMoney(limits))
      throw new BudgetError(`No price is known for '${model}', so a budget of money cannot be kept.`);
    const { turn } = options;
    const estimate = amountOf(estimateOf(options), price);
    return new MeteredCall(
      await this.budgets.reserve({ userId, estimate, ...(turn === undefined ? {} : { turn }) }, limits),
      options,
      price,
    );
  }
}

class MeteredCall {
  private readonly share: ReservationHandle;
  private readonly options: GenerateOptions;
  private readonly price: ModelCapabilities['price'];

  constructor(share: ReservationHandle, options: GenerateOptions, price: ModelCapabilities['price']) {
    this.share = share;
    this.options = options;
    this.price = price;
  }

  settle(usage: Usage): Promise<void> {
    return this.share.settle(amountOf(usage, this.price));
  }

  /** @param begun what had come of the answer when it failed */
  fail(error: unknown, begun: Usage | undefined): Promise<void> {
    const cost =
      isLLMError(error) && error.response !== undefined ? error.response.usage : (begun ?? this.lostUsage(error));
    return cost === undefined ? this.share.release() : this.settle(cost);
  }

  /** A call that was cut off has cost something, though nobody counted it; one that its vendor refused has not. */
  private lostUsage(error: unknown): Usage | undefined {
    const wasCutOff =
      this.options.signal?.aborted === true || error instanceof LLMStreamError || error instanceof LLMTimeoutError;
    return wasCutOff ? estimatedUsage(itemsOf(this.options), 0) : undefined;
  }
}

function estimateOf(options: GenerateOptions): Usage {
  const { instructions = '', max_output_tokens = USUAL_OUTPUT } = options;
  const asked = estimatedUsage(itemsOf(options), max_output_tokens * CHARACTERS_PER_TOKEN);
  const input_tokens = asked.input_tokens + Math.ceil(instructions.length / CHARACTERS_PER_TOKEN);
  return { ...asked, input_tokens, total_tokens: input_tokens + asked.output_tokens };
}

/** What was normalised once is known; images and files count by their text, which is the most that they can be. */
function itemsOf({ input }: GenerateOptions): readonly Item[] {
  return normalizeInput(input);
}

function amountOf(usage: Usage, price: ModelCapabilities['price']): { calls: number; tokens: number; money: number } {
  return { calls: 1, tokens: usage.total_tokens, money: price === undefined ? 0 : costOf(usage, price) };
}

function limitsMoney({ day, month }: BudgetLimits): boolean {
  return day?.money !== undefined || month?.money !== undefined;
}
