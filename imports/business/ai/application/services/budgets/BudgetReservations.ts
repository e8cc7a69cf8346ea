/**
 * Users' budgets around model calls: a share is held before a call goes out and settled after it, by
 * compare-and-set on the user's account, so that all processes together keep to one limit.
 */
import { randomUUID } from 'node:crypto';
import { endOfWindow, giveBack, reserve, settle } from '../../../domain/entities/BudgetAccount';
import type { Amount, BudgetAccount, BudgetLimits, Reservation, RunTurn } from '../../../domain/entities/BudgetAccount';
import { BudgetError } from '../../../domain/errors/LLMErrors';
import type { BudgetStore } from '../../../domain/interfaces/BudgetStore';
import type { Logger } from '../../../domain/interfaces/Logger';
import { BudgetLedger } from './BudgetLedger';

export interface CallBudgetsOptions {
  readonly store: BudgetStore;
  /** A user's limits; undefined for users who have none. */
  readonly limitsOf: (userId: string) => BudgetLimits | undefined;
  /**
   * Milliseconds after which a hold counts as left behind by a dead process; longer than calls take. Default: 30
   * minutes.
   */
  readonly lease?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly logger?: Logger;
}

/** A share that a call holds. What comes second, settling or giving back, changes nothing. */
export interface ReservationHandle {
  settle(amount: Amount): Promise<void>;
  release(): Promise<void>;
}

export interface HoldRequest {
  readonly userId: string;
  /** What the call may use, by estimate. */
  readonly estimate: Amount;
  /** The run's turn that asks: the same one again is the same call. */
  readonly turn?: RunTurn;
}

const DEFAULT_LEASE = 1_800_000;

export class BudgetReservations {
  private readonly options: CallBudgetsOptions;
  private readonly lease: number;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly ledger: BudgetLedger;

  constructor(options: CallBudgetsOptions) {
    this.options = options;
    this.lease = options.lease ?? DEFAULT_LEASE;
    this.now = options.now ?? Date.now;
    this.logger = options.logger ?? console;
    this.ledger = new BudgetLedger(options.store, this.now);
  }

  limitsOf(userId: string): BudgetLimits | undefined {
    return this.options.limitsOf(userId);
  }

  /**
   * @throws BudgetError when the share would pass a limit; what the store throws, since a budget that can't be read
   * is none that is kept
   */
  async reserve({ userId, estimate, turn }: HoldRequest, limits: BudgetLimits): Promise<ReservationHandle> {
    const id = turn === undefined ? randomUUID() : `${turn.executionId}/${turn.iteration}`;
    const wanted = { id, ...estimate, lease: this.lease, ...(turn === undefined ? {} : { turn }) };
    const reservation = await this.ledger.change(userId, (account) => {
      const result = reserve(account, wanted, limits, this.now());
      return { account: result.kind === 'held' ? result.account : account, result };
    });
    switch (reservation.kind) {
      case 'refused':
        throw this.refusal(reservation);
      case 'paid':
        return PAID_SHARE;
      case 'held':
        return this.share(userId, id, turn);
    }
  }

  private share(userId: string, id: string, turn: RunTurn | undefined): ReservationHandle {
    let isOver = false;
    const end = async (move: (account: BudgetAccount) => BudgetAccount): Promise<void> => {
      if (isOver) return;
      isOver = true;
      try {
        await this.ledger.change(userId, (account) => ({ account: move(account), result: undefined }));
      } catch (error) {
        // An answer is not lost because its bill is; what was held is given back when its lease is over.
        this.logger.error(`what '${userId}' has used could not be written down`, error);
      }
    };
    return {
      settle: (amount) => end((account) => settle(account, id, amount, this.now(), turn)),
      release: () => end((account) => giveBack(account, id, this.now())),
    };
  }

  private refusal({ window, what, limit }: Extract<Reservation, { kind: 'refused' }>): BudgetError {
    const now = this.now();
    return new BudgetError(`The next call would pass your budget of ${formatLimit(what, limit)} a ${window}.`, {
      retryAfterMs: Math.max(endOfWindow(window, now) - now, 1),
    });
  }
}

const PAID_SHARE: ReservationHandle = { settle: () => Promise.resolve(), release: () => Promise.resolve() };

function formatLimit(what: keyof Amount, limit: number): string {
  switch (what) {
    case 'calls':
      return `${limit} model calls`;
    case 'tokens':
      return `${limit} tokens`;
    case 'money':
      return `$${limit}`;
  }
}
