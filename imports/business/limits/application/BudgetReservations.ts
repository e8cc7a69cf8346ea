/**
 * Reserves before each model call what it may cost at most, and replaces that by what it has cost: in the budget of the
 * call's user, of its API token, or of a team. Accounts change by compare-and-set, so that all processes together
 * respect one limit. `reserve` has the rule by which calls are admitted.
 */
import { consoleLogger } from '../../../log/consoleLogger';
import { randomUUID } from 'node:crypto';
import { addUsed, openBudget, release, renew, reserve, settle } from '../../ai/domain/entities/BudgetAccount';
import type {
  Amount,
  BudgetAccount,
  BudgetLimits,
  BudgetRefusal,
  RunTurn,
  UsedAmount,
} from '../../ai/domain/entities/BudgetAccount';
import { BudgetError } from '../../ai/domain/errors/LLMErrors';
import type { BudgetStore } from '../domain/BudgetStore';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import { runDetached } from '../../ai/application/services/shared/runDetached';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import { AccountLedger } from './AccountLedger';
import { amountOf } from './amountOf';
import type { CallLimiter, LimitedCall, ReservationHandle } from './CallLimiter';

/** Whose budget a call is charged to. */
export interface BudgetSubject {
  readonly id: string;
  /** Undefined: there are no limits. */
  readonly limits: BudgetLimits | undefined;
  /** The name of the budget in messages, such as `your budget`. */
  readonly name: string;
}

export interface BudgetReservationsOptions {
  readonly store: BudgetStore;
  /** @returns undefined for a call that no account of this store is charged with */
  readonly subjectOf: (
    call: Pick<LimitedCall, 'userId' | 'options'>,
  ) => BudgetSubject | undefined | Promise<BudgetSubject | undefined>;
  /** Counts what subjects without limits use, too. Default: false. */
  readonly countsEveryone?: boolean;
  /** Milliseconds after which the reservations of a dead process no longer count. Default: two minutes. */
  readonly lease?: number;
  /** Milliseconds since the epoch. */
  readonly now?: () => number;
  readonly logger?: Logger;
}

const DEFAULT_LEASE_MS = 120_000;
/** No call takes longer: a reservation that is older was forgotten, and is not renewed. */
const MAX_CALL_MS = 1_800_000;

interface RunningCall {
  readonly subjectId: string;
  readonly startedAt: number;
}

export class BudgetReservations implements CallLimiter {
  private readonly options: BudgetReservationsOptions;
  private readonly leaseMs: number;
  private readonly now: () => number;
  private readonly logger: Logger;
  private readonly ledger: AccountLedger<BudgetAccount>;
  /** Reservations of this process, by their ids. */
  private readonly running = new Map<string, RunningCall>();
  /** What calls without limits have used and no write has taken yet, by subject. */
  private readonly uncharged = new Map<string, { amount: UsedAmount }>();
  private timer: ReturnType<typeof setInterval> | undefined;

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
   * @throws BudgetError for a call that is not admitted, with `retryAfterMs` if it is known when there is room again
   * @throws whatever the store throws, since a budget that can't be read can't be enforced
   */
  admit(call: LimitedCall): ReservationHandle | undefined | Promise<ReservationHandle | undefined> {
    const subject = this.options.subjectOf(call);
    return subject instanceof Promise
      ? subject.then((found) => this.admitFor(found, call))
      : this.admitFor(subject, call);
  }

  private admitFor(
    subject: BudgetSubject | undefined,
    call: LimitedCall,
  ): ReservationHandle | undefined | Promise<ReservationHandle> {
    if (subject === undefined) return undefined;
    const { id, limits } = subject;
    const { batch, turn } = call.options;
    // The vendor bills what was submitted, whatever is left.
    if (batch?.isSubmitted === true && turn !== undefined && (limits !== undefined || this.options.countsEveryone))
      return this.handleOf(id, holdIdOf(turn), turn);
    return limits === undefined ? this.count(id) : this.admitWithin(limits, subject, call);
  }

  private async admitWithin(
    limits: BudgetLimits,
    subject: BudgetSubject,
    call: LimitedCall,
  ): Promise<ReservationHandle> {
    const price = call.price();
    if (price === undefined && limitsMoney(limits))
      throw new BudgetError(
        `The price of the model "${call.model}" is unknown, so a budget in US dollars can't be enforced.`,
      );
    const most = amountOf(call.maximum(), price);
    const handle = await this.reserve(subject, most, limits, call.options.turn);
    return limitsMoney(limits) ? { ...handle, limitsMoney: true } : handle;
  }

  /** For a call that no limit applies to. @returns undefined if such calls are not counted */
  private count(id: string): ReservationHandle | undefined {
    if (this.options.countsEveryone !== true) return undefined;
    let isSettled = false;
    const charge = (amount: UsedAmount): Promise<void> | undefined => {
      if (isSettled) return undefined;
      isSettled = true;
      return this.chargeSoon(id, amount);
    };
    return { settle: charge, leave: charge, release: () => undefined };
  }

  /** Adds to what the next write charges. */
  private chargeSoon(id: string, amount: UsedAmount): Promise<void> | undefined {
    const waiting = this.uncharged.get(id);
    if (waiting !== undefined) {
      waiting.amount = addUsed(waiting.amount, amount);
      return undefined;
    }
    const sum = { amount };
    this.uncharged.set(id, sum);
    const take = (): void => {
      if (this.uncharged.get(id) === sum) this.uncharged.delete(id);
    };
    return this.ledger.changeSoon(
      id,
      (account) => {
        take();
        return settle(account, UNRESERVED, sum.amount, this.now());
      },
      (error) => {
        take();
        this.reportUncharged(id, error);
      },
    );
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
    most: Amount,
    limits: BudgetLimits,
    turn: RunTurn | undefined,
  ): Promise<ReservationHandle> {
    const id = turn === undefined ? randomUUID() : holdIdOf(turn);
    const hold = omitUndefined({ id, ...most, leaseMs: this.leaseMs, turn });
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
        this.track(id, subject.id);
        return this.handleOf(subject.id, id, turn, most);
    }
  }

  /** @param reserved absent if it is not known any more */
  private handleOf(subjectId: string, id: string, turn: RunTurn | undefined, reserved?: Amount): ReservationHandle {
    let isSettled = false;
    const finish = async (update: (account: BudgetAccount) => BudgetAccount): Promise<void> => {
      if (isSettled) return;
      isSettled = true;
      this.untrack(id);
      try {
        await this.ledger.change(subjectId, (account) => ({ account: update(account), result: undefined }));
      } catch (error) {
        this.reportUncharged(subjectId, error);
      }
    };
    const charge = (amount: UsedAmount): Promise<void> =>
      finish((account) => settle(account, id, amount, this.now(), turn));
    return {
      settle: charge,
      leave: (amount) => charge(reserved === undefined ? amount : atLeast(amount, reserved)),
      release: () => finish((account) => release(account, id, this.now())),
    };
  }

  private track(id: string, subjectId: string): void {
    this.running.set(id, { subjectId, startedAt: this.now() });
    this.timer ??= runDetached(() => setInterval(() => this.renewAll(), this.leaseMs / 3).unref());
  }

  private untrack(id: string): void {
    this.running.delete(id);
    if (this.running.size > 0) return;
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private renewAll(): void {
    const now = this.now();
    const ids = new Map<string, Set<string>>();
    for (const [id, { subjectId, startedAt }] of this.running) {
      if (now - startedAt > MAX_CALL_MS) this.untrack(id);
      else ids.set(subjectId, (ids.get(subjectId) ?? new Set()).add(id));
    }
    for (const [subjectId, held] of ids)
      this.ledger
        .change(subjectId, (before) => ({
          account: renew(before, held, now + this.leaseMs, this.now()),
          result: undefined,
        }))
        .catch((error: unknown) =>
          this.logger.warn(`Could not renew the reservations of "${subjectId}" for calls in progress.`, error),
        );
  }

  /** A limit that is reached has room again when its window ends; otherwise, when enough reservations have ended. */
  private refusal(name: string, { window, what, limit, used, held, roomAt }: BudgetRefusal): BudgetError {
    const isReached = used >= limit;
    const time = new Date(roomAt).toISOString();
    const reserved = held === 0 ? '' : `, ${formatAmount(what, held)} are reserved by calls in progress`;
    const rest = isReached
      ? `It resets at ${time}.`
      : `Wait for one of them to end, or limit the output of the calls. Unless they are renewed, enough of the reservations end by ${time}.`;
    return new BudgetError(
      `The next call would exceed ${name} of ${formatLimit(what, limit)} per ${window}: ${formatAmount(what, used)} ` +
        `${what === 'money' || used !== 1 ? 'are' : 'is'} used${reserved}. ${rest}`,
      { retryAfterMs: Math.max(roomAt - this.now(), 1) },
    );
  }
}

/** No reservation has this id. */
const UNRESERVED = '';

function holdIdOf({ executionId, iteration }: RunTurn): string {
  return `${executionId}/${iteration}`;
}

const ALREADY_PAID: ReservationHandle = {
  settle: () => undefined,
  leave: () => undefined,
  release: () => undefined,
};

function atLeast(amount: UsedAmount, { tokens, money }: Amount): UsedAmount {
  return { ...amount, tokens: Math.max(amount.tokens, tokens), money: Math.max(amount.money, money) };
}

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
