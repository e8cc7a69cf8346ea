/**
 * What one user, API token or team has used today and this month (UTC), and what running calls have reserved of the
 * rest. All functions are pure; times are milliseconds since the epoch.
 */

/** `money` in US dollars. */
import { omitUndefined } from '../util/omitUndefined';

export interface Amount {
  readonly calls: number;
  readonly tokens: number;
  readonly money: number;
}

/** What was used. `money` lacks what is unknown of the cost of calls; `unpriced` is the number of those calls. */
export interface UsedAmount extends Amount {
  readonly unpriced?: number;
}

export const BUDGET_WINDOWS = ['day', 'month'] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** The limits of each window. A missing amount is unlimited. */
export type BudgetLimits = { readonly [W in BudgetWindow]?: Partial<Amount> };

/** Limits of every user for a day and a month (UTC). */
export interface BudgetSettings extends BudgetLimits {
  /** By user id, instead of the limits of every user. `{}` means no limits. */
  readonly users?: Readonly<Record<string, BudgetLimits>>;
}

/** A turn of a run. If it is repeated after a crash, it counts as the same call. */
export interface RunTurn {
  readonly executionId: string;
  /** The number of this model call within the run, from 1. */
  readonly iteration: number;
}

/** The reservation of a running call: the most that it may use. */
export interface BudgetHold extends Amount {
  readonly id: string;
  /** The windows in which it was reserved. */
  readonly day: string;
  readonly month: string;
  /** When it expires, unless it is renewed: its process is dead then. */
  readonly until: number;
}

export interface BudgetAccount {
  /** Or the id of an API token, or the name of a team, whose accounts have stores of their own. */
  readonly userId: string;
  /** The current windows, such as `2026-11-22` and `2026-11`, and what was used in them. */
  readonly day: string;
  readonly month: string;
  readonly used: Readonly<Record<BudgetWindow, UsedAmount>>;
  readonly holds: readonly BudgetHold[];
  /** The last paid turn of each of the most recently paid runs. */
  readonly paid: readonly (RunTurn & { readonly until: number })[];
}

export type Reservation =
  | { readonly kind: 'held'; readonly account: BudgetAccount }
  /** The turn was paid before a crash and is not charged again. */
  | { readonly kind: 'paid' }
  | BudgetRefusal;

export interface BudgetRefusal {
  readonly kind: 'refused';
  readonly window: BudgetWindow;
  readonly what: keyof Amount;
  readonly limit: number;
  readonly used: number;
  /** Reserved by calls in progress. */
  readonly held: number;
  /**
   * When there is room for the call again, if none of those in progress ends before its reservation expires, and none
   * begins: the end of the window if the limit is reached.
   */
  readonly roomAt: number;
}

export interface HoldRequest extends Amount {
  readonly id: string;
  readonly turn?: RunTurn;
  /** Milliseconds until the reservation expires. */
  readonly leaseMs: number;
}

/** How long a paid turn is stored, in milliseconds, and for how many runs. */
const PAID_FOR_MS = 86_400_000;
const PAID_RUNS = 200;

const NOTHING: Amount = { calls: 0, tokens: 0, money: 0 };

export function openBudget(userId: string, now: number): BudgetAccount {
  return { userId, ...windowsAt(now), used: { day: NOTHING, month: NOTHING }, holds: [], paid: [] };
}

/**
 * Reserves the amount in every window, or in none. Once a limit is reached, nothing is admitted. Below it, a call is
 * admitted if no other is in progress, however much it may use; next to others, only if it stays within the limit
 * although all of them use what they have reserved. So calls that use at most their reservations exceed a limit by
 * less than one of them, and one that needs little is never refused for what it might have needed. Of several limits
 * that refuse the call, the one that does so longest is reported.
 */
export function reserve(before: BudgetAccount, request: HoldRequest, limits: BudgetLimits, now: number): Reservation {
  const account = atTime(before, now);
  if (request.turn !== undefined && isPaid(account, request.turn)) return { kind: 'paid' };
  const { id, calls, tokens, money, leaseMs } = request;
  const others = account.holds.filter((hold) => hold.id !== id);
  let refusal: BudgetRefusal | undefined;
  for (const window of BUDGET_WINDOWS) {
    const held = others.filter((hold) => hold[window] === account[window]);
    for (const [what, limit] of Object.entries(limits[window] ?? {}) as [keyof Amount, number | undefined][]) {
      if (limit === undefined) continue;
      const used = account.used[window][what];
      const demand = { what, limit, used, requested: request[what] };
      if (isAdmitted(demand, held)) continue;
      const end = endOfWindow(window, Math.max(now, Date.parse(account[window])));
      // Reservations of calls in progress are renewed; nobody knows how long these take.
      const firstRoom = held
        .map(({ until }) => until)
        .toSorted((a, b) => a - b)
        .find((at) => isAdmitted(demand, stillHeld(held, at)));
      const at = Math.min(end, firstRoom ?? end);
      if (refusal === undefined || at > refusal.roomAt)
        refusal = { kind: 'refused', window, what, limit, used, held: sumOf(held, what), roomAt: at };
    }
  }
  if (refusal !== undefined) return refusal;
  const hold = { id, calls, tokens, money, day: account.day, month: account.month, until: now + leaseMs };
  return { kind: 'held', account: { ...account, holds: [...others, hold] } };
}

interface Demand {
  readonly what: keyof Amount;
  readonly limit: number;
  readonly used: number;
  readonly requested: number;
}

/** @param held by the calls in progress */
function isAdmitted({ what, limit, used, requested }: Demand, held: readonly BudgetHold[]): boolean {
  const taken = used + sumOf(held, what);
  // A used-up budget permits nothing, not even a call that is estimated to be free.
  return taken < limit && (held.length === 0 || taken + requested <= limit);
}

function stillHeld(holds: readonly BudgetHold[], at: number): readonly BudgetHold[] {
  return holds.filter(({ until }) => until > at);
}

function sumOf(holds: readonly BudgetHold[], what: keyof Amount): number {
  return holds.reduce((sum, hold) => sum + hold[what], 0);
}

/**
 * Replaces a reservation by what the call really used. An expired reservation is charged too; a turn is charged
 * once.
 */
export function settle(
  before: BudgetAccount,
  id: string,
  amount: UsedAmount,
  now: number,
  turn?: RunTurn,
): BudgetAccount {
  const account = atTime(before, now);
  if (turn !== undefined && isPaid(account, turn))
    return { ...account, holds: account.holds.filter((hold) => hold.id !== id) };
  const hold = account.holds.find((each) => each.id === id);
  const charged = (window: BudgetWindow): UsedAmount =>
    hold === undefined || hold[window] === account[window]
      ? addUsed(account.used[window], amount)
      : account.used[window];
  return {
    ...account,
    used: { day: charged('day'), month: charged('month') },
    holds: account.holds.filter((each) => each !== hold),
    ...omitUndefined({ paid: turn && withPaid(account.paid, { ...turn, until: now + PAID_FOR_MS }) }),
  };
}

/** Removes a reservation without charging anything. */
export function release(before: BudgetAccount, id: string, now: number): BudgetAccount {
  const account = atTime(before, now);
  return { ...account, holds: account.holds.filter((hold) => hold.id !== id) };
}

/** Extends the reservations of calls that are still in progress. Those that have expired stay so. */
export function renew(before: BudgetAccount, ids: ReadonlySet<string>, until: number, now: number): BudgetAccount {
  const account = atTime(before, now);
  return { ...account, holds: account.holds.map((hold) => (ids.has(hold.id) ? { ...hold, until } : hold)) };
}

/** What is used and reserved in the windows at the given time. */
export function usageOf(
  before: BudgetAccount,
  now: number,
): Readonly<Record<BudgetWindow, { readonly used: UsedAmount; readonly held: Amount }>> {
  const account = atTime(before, now);
  const ofWindow = (window: BudgetWindow): { readonly used: UsedAmount; readonly held: Amount } => ({
    used: account.used[window],
    held: account.holds.filter((hold) => hold[window] === account[window]).reduce(addAmounts, NOTHING),
  });
  return { day: ofWindow('day'), month: ofWindow('month') };
}

export function endOfWindow(window: BudgetWindow, now: number): number {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return window === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
}

/**
 * The account at the given time: new windows are empty, and expired reservations are gone. A clock that lags behind
 * never reopens an earlier window.
 */
function atTime(account: BudgetAccount, now: number): BudgetAccount {
  const { day, month } = windowsAt(now);
  return {
    ...account,
    day: day > account.day ? day : account.day,
    month: month > account.month ? month : account.month,
    used: {
      day: day > account.day ? NOTHING : account.used.day,
      month: month > account.month ? NOTHING : account.used.month,
    },
    holds: stillHeld(account.holds, now),
    paid: account.paid.filter(({ until }) => until > now),
  };
}

/** The windows of a time, such as `2026-11-22` and `2026-11`. */
export function windowsAt(now: number): { readonly day: string; readonly month: string } {
  const day = new Date(now).toISOString().slice(0, 10);
  return { day, month: day.slice(0, 7) };
}

function isPaid({ paid }: BudgetAccount, { executionId, iteration }: RunTurn): boolean {
  return paid.some((turn) => turn.executionId === executionId && turn.iteration >= iteration);
}

function withPaid(paid: BudgetAccount['paid'], turn: BudgetAccount['paid'][number]): BudgetAccount['paid'] {
  return [...paid.filter(({ executionId }) => executionId !== turn.executionId), turn].slice(-PAID_RUNS);
}

/** Sums amounts; `unpriced` is left out if it is 0. */
export function addUsed(left: UsedAmount, right: UsedAmount): UsedAmount {
  const unpriced = (left.unpriced ?? 0) + (right.unpriced ?? 0);
  return { ...addAmounts(left, right), ...(unpriced === 0 ? {} : { unpriced }) };
}

export function addAmounts(left: Amount, right: Amount): Amount {
  return { calls: left.calls + right.calls, tokens: left.tokens + right.tokens, money: left.money + right.money };
}
