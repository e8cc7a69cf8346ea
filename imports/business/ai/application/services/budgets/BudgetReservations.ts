/**
 * Reserves a share of a budget before each model call and settles it afterwards: the budget of the call's user, of its
 * API token, or of a team. Accounts change by compare-and-set, so that all processes together respect one limit.
 */
import { consoleLogger } from '../../../domain/consoleLogger';
import { randomUUID } from 'node:crypto';
import { endOfWindow, openBudget, release, reserve, settle } from '../../../domain/entities/BudgetAccount';
import type {
  Amount,
  BudgetAccount,
  BudgetLimits,
  BudgetRefusal,
  RunTurn,
} from '../../../domain/entities/BudgetAccount';
import { BudgetError } from '../../../domain/errors/LLMErrors';
import type { BudgetStore } from '../../../domain/interfaces/BudgetStore';
import type { Logger } from '../../../domain/interfaces/Logger';
import { AccountLedger } from './AccountLedger';
import { amountOf } from './amountOf';
import type { CallLimiter, LimitedCall, ReservationHandle } from './CallLimiter';

/** Whose budget a call is charged to. */
export interface BudgetSubject {
  readonly id: string;
  /** Undefined: there are no limits. */
  readonly limits: BudgetLimits | undefined;
  /** As in `your budget`. */
  readonly name: string;
}

export interface BudgetReservationsOptions {
  readonly store: BudgetStore;
  /** @returns undefined for a call that no account of this store is charged with */
  readonly subjectOf: (call: Pick<LimitedCall, 'userId' | 'options'>) => Promise<BudgetSubject | undefined>;
  /** Counts what subjects without limits use, too. Default: false. */
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

const DEFAULT_LEASE_MS = 1_800_000;

export class BudgetReservations implements CallLimiter {
  private readonly options: BudgetReservationsOptions;
  private readonly leaseMs: number;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly ledger: AccountLedger<BudgetAccount>;

  constructor(options: BudgetReservationsOptions) {
    this.options = options;
    this.leaseMs = options.lease ?? DEFAULT_LEASE_MS;
    this.now = options.now ?? Date.now;
    this.logger = options.logger ?? consoleLogger;
    this.ledger = new AccountLedger({
      store: options.store,
      open: (id) => openBudget(id, this.now()),
      kind: 'the budget of',
    });
  }

  /**
   * @throws BudgetError if the call would exceed a limit, with `retryAfterMs`
   * @throws whatever the store throws, since a budget that can't be read can't be enforced
   */
  async admit(call: LimitedCall): Promise<ReservationHandle | undefined> {
    const subject = await this.options.subjectOf(call);
    if (subject === undefined) return undefined;
    const { id, limits } = subject;
    if (limits === undefined) return this.count(id);
    const price = call.price();
    if (price === undefined && limitsMoney(limits))
      throw new BudgetError(
        `The price of the model "${call.model}" is unknown, so a budget in US dollars can't be enforced.`,
      );
    const estimate = amountOf(call.estimate(), price);
    const handle = await this.reserve(subject, estimate, limits, call.options.turn);
    return limitsMoney(limits) ? { ...handle, limitsMoney: true } : handle;
  }

  /** For a call that no limit applies to. @returns undefined if such calls are not counted */
  private count(id: string): ReservationHandle | undefined {
    if (this.options.countsEveryone !== true) return undefined;
    const hold = randomUUID();
    let isSettled = false;
    return {
      settle: async (amount) => {
        if (isSettled) return;
        isSettled = true;
        await this.ledger.changeSoon(
          id,
          (account) => settle(account, hold, amount, this.now(), undefined),
          (error) => this.reportUncharged(id, error),
        );
      },
      release: () => Promise.resolve(),
    };
  }

  /** Resolves when what all calls so far have used is stored. */
  settled(): Promise<void> {
    return this.ledger.settled();
  }

  /** The response must not be lost because its bill is. The reservation ends with its lease. */
  private reportUncharged(subjectId: string, error: unknown): void {
    this.logger.error(`Could not record the usage of "${subjectId}".`, error);
  }

  private async reserve(
    subject: BudgetSubject,
    estimate: Amount,
    limits: BudgetLimits,
    turn: RunTurn | undefined,
  ): Promise<ReservationHandle> {
    const id = turn === undefined ? randomUUID() : `${turn.executionId}/${turn.iteration}`;
    const hold = { id, ...estimate, leaseMs: this.leaseMs, ...(turn === undefined ? {} : { turn }) };
    const reservation = await this.ledger.change(subject.id, (account) => {
      const result = reserve(account, hold, limits, this.now());
      return { account: result.kind === 'held' ? result.account : account, result };
    });
    switch (reservation.kind) {
      case 'refused':
        throw this.refusal(subject.name, reservation);
      case 'paid':
        return ALREADY_PAID;
      case 'held':
        return this.handleOf(subject.id, id, turn);
    }
  }

  private handleOf(subjectId: string, id: string, turn: RunTurn | undefined): ReservationHandle {
    let isSettled = false;
    const finish = async (update: (account: BudgetAccount) => BudgetAccount): Promise<void> => {
      if (isSettled) return;
      isSettled = true;
      try {
        await this.ledger.change(subjectId, (account) => ({ account: update(account), result: undefined }));
      } catch (error) {
        this.reportUncharged(subjectId, error);
      }
    };
    return {
      settle: (amount) => finish((account) => settle(account, id, amount, this.now(), turn)),
      release: () => finish((account) => release(account, id, this.now())),
    };
  }

  private refusal(name: string, { window, what, limit, used, held }: BudgetRefusal): BudgetError {
    const now = this.now();
    const end = endOfWindow(window, now);
    const reserved = held === 0 ? '' : `, ${formatAmount(what, held)} are reserved by calls in progress`;
    return new BudgetError(
      `The next call would exceed ${name} of ${formatLimit(what, limit)} per ${window}: ${formatAmount(what, used)} ` +
        `${what === 'money' || used !== 1 ? 'are' : 'is'} used${reserved}. It resets at ${new Date(end).toISOString()}.`,
      { retryAfterMs: Math.max(end - now, 1) },
    );
  }
}

const ALREADY_PAID: ReservationHandle = { settle: () => Promise.resolve(), release: () => Promise.resolve() };

function limitsMoney({ day, month }: BudgetLimits): boolean {
  return day?.money !== undefined || month?.money !== undefined;
}

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

function formatAmount(what: keyof Amount, amount: number): string {
  return what === 'money' ? `$${Number(amount.toFixed(6))}` : String(amount);
}
