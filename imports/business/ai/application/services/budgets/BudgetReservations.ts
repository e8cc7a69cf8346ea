/**
 * Reserves a share of a user's budget before each model call and settles it afterwards. Accounts change by
 * compare-and-set, so that all processes together respect one limit.
 */
import { consoleLogger } from '../../../domain/consoleLogger';
import { randomUUID } from 'node:crypto';
import { endOfWindow, release, reserve, settle } from '../../../domain/entities/BudgetAccount';
import type {
  Amount,
  BudgetAccount,
  BudgetLimits,
  Reservation,
  RunTurn,
  UsedAmount,
} from '../../../domain/entities/BudgetAccount';
import { BudgetError } from '../../../domain/errors/LLMErrors';
import type { BudgetStore } from '../../../domain/interfaces/BudgetStore';
import type { Logger } from '../../../domain/interfaces/Logger';
import { BudgetLedger } from './BudgetLedger';

export interface BudgetReservationsOptions {
  readonly store: BudgetStore;
  /** A user's limits, or undefined for a user without limits. */
  readonly limitsOf: (userId: string) => BudgetLimits | undefined | Promise<BudgetLimits | undefined>;
  /** Counts what users without limits use, too. Default: false. */
  readonly countsEveryone?: boolean;
  /**
   * Milliseconds after which a reservation counts as orphaned by a dead process. Must exceed the duration of any call.
   * Default: 30 minutes.
   */
  readonly lease?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly logger?: Logger;
}

/** A call's reservation. Only the first call of `settle` or `release` has an effect. */
export interface ReservationHandle {
  /** Charges what the call really used. */
  settle(amount: UsedAmount): Promise<void>;
  /** Charges nothing. */
  release(): Promise<void>;
}

export interface ReservationRequest {
  readonly userId: string;
  /** The most that the call is expected to use. */
  readonly estimate: Amount;
  /** The run's turn that makes the call. A repetition of the turn, as after a crash, is the same call. */
  readonly turn?: RunTurn;
}

const DEFAULT_LEASE_MS = 1_800_000;

export class BudgetReservations {
  private readonly options: BudgetReservationsOptions;
  private readonly leaseMs: number;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly ledger: BudgetLedger;

  constructor(options: BudgetReservationsOptions) {
    this.options = options;
    this.leaseMs = options.lease ?? DEFAULT_LEASE_MS;
    this.now = options.now ?? Date.now;
    this.logger = options.logger ?? consoleLogger;
    this.ledger = new BudgetLedger(options.store, this.now);
  }

  async limitsOf(userId: string): Promise<BudgetLimits | undefined> {
    return this.options.limitsOf(userId);
  }

  /** For a call that no limit applies to. @returns undefined if such calls are not counted */
  count(userId: string): ReservationHandle | undefined {
    if (this.options.countsEveryone !== true) return undefined;
    const handle = this.handleOf(userId, randomUUID(), undefined);
    return { settle: (amount) => handle.settle(amount), release: () => Promise.resolve() };
  }

  /**
   * @throws BudgetError if the call would exceed a limit, with `retryAfterMs`
   * @throws whatever the store throws, since a budget that can't be read can't be enforced
   */
  async reserve({ userId, estimate, turn }: ReservationRequest, limits: BudgetLimits): Promise<ReservationHandle> {
    const id = turn === undefined ? randomUUID() : `${turn.executionId}/${turn.iteration}`;
    const hold = { id, ...estimate, leaseMs: this.leaseMs, ...(turn === undefined ? {} : { turn }) };
    const reservation = await this.ledger.change(userId, (account) => {
      const result = reserve(account, hold, limits, this.now());
      return { account: result.kind === 'held' ? result.account : account, result };
    });
    switch (reservation.kind) {
      case 'refused':
        throw this.refusal(reservation);
      case 'paid':
        return ALREADY_PAID;
      case 'held':
        return this.handleOf(userId, id, turn);
    }
  }

  private handleOf(userId: string, id: string, turn: RunTurn | undefined): ReservationHandle {
    let isSettled = false;
    const finish = async (update: (account: BudgetAccount) => BudgetAccount): Promise<void> => {
      if (isSettled) return;
      isSettled = true;
      try {
        await this.ledger.change(userId, (account) => ({ account: update(account), result: undefined }));
      } catch (error) {
        // The response must not be lost because its bill is. The reservation ends with its lease.
        this.logger.error(`Could not record the usage of the user "${userId}".`, error);
      }
    };
    return {
      settle: (amount) => finish((account) => settle(account, id, amount, this.now(), turn)),
      release: () => finish((account) => release(account, id, this.now())),
    };
  }

  private refusal({ window, what, limit }: Extract<Reservation, { kind: 'refused' }>): BudgetError {
    const now = this.now();
    return new BudgetError(`The next call would exceed your budget of ${formatLimit(what, limit)} per ${window}.`, {
      retryAfterMs: Math.max(endOfWindow(window, now) - now, 1),
    });
  }
}

const ALREADY_PAID: ReservationHandle = { settle: () => Promise.resolve(), release: () => Promise.resolve() };

function formatLimit(what: keyof Amount, limit: number): string {
  switch (what) {
    case 'calls':
      return `${limit} model ${limit === 1 ? 'call' : 'calls'}`;
    case 'tokens':
      return `${limit} ${limit === 1 ? 'token' : 'tokens'}`;
    case 'money':
      return `$${limit}`;
  }
}
