/**
 * What one user has used in this day and this month (UTC), and what calls under way hold of the rest. Every move is
 * pure; times are milliseconds since the epoch.
 */

/** `money` in US dollars. */
export interface Amount {
  readonly calls: number;
  readonly tokens: number;
  readonly money: number;
}

export const BUDGET_WINDOWS = ['day', 'month'] as const;
export type BudgetWindow = (typeof BUDGET_WINDOWS)[number];

/** What may be used in each window; what is not named is not limited. */
export type BudgetLimits = { readonly [W in BudgetWindow]?: Partial<Amount> };

/** A run's turn: after a crash the same turn asks again, and is the same call. */
export interface RunTurn {
  readonly executionId: string;
  /** Model calls of the run, this one included. */
  readonly iteration: number;
}

/** What a call that has not ended may use at most, by estimate. */
export interface BudgetHold extends Amount {
  readonly id: string;
  /** The windows in which it was taken. */
  readonly day: string;
  readonly month: string;
  /** Nobody settles it after this time: its process is dead. */
  readonly until: number;
}

export interface BudgetAccount {
  readonly userId: string;
  /** `2026-11-22` and `2026-11`, and what was used in them. */
  readonly day: string;
  readonly month: string;
  readonly used: Readonly<Record<BudgetWindow, Amount>>;
  readonly holds: readonly BudgetHold[];
  /** The last turn that was paid, of the runs that were paid last. */
  readonly paid: readonly (RunTurn & { readonly until: number })[];
}

export type Reservation =
  | { readonly kind: 'held'; readonly account: BudgetAccount }
  /** The turn was paid before a crash; it is not paid again. */
  | { readonly kind: 'paid' }
  | { readonly kind: 'refused'; readonly window: BudgetWindow; readonly what: keyof Amount; readonly limit: number };

export interface WantedHold extends Amount {
  readonly id: string;
  readonly turn?: RunTurn;
  /** Milliseconds until the hold counts as left behind. */
  readonly lease: number;
}

/** How long a paid turn is remembered, in milliseconds, and of how many runs. */
const PAID_FOR = 86_400_000;
const PAID_RUNS = 200;

const NOTHING: Amount = { calls: 0, tokens: 0, money: 0 };

export function openBudget(userId: string, now: number): BudgetAccount {
  return { userId, ...windowsAt(now), used: { day: NOTHING, month: NOTHING }, holds: [], paid: [] };
}

/** Takes the amount out of every window at once, or out of none. */
export function reserve(before: BudgetAccount, wanted: WantedHold, limits: BudgetLimits, now: number): Reservation {
  const account = atTime(before, now);
  if (wanted.turn !== undefined && isPaid(account, wanted.turn)) return { kind: 'paid' };
  const { id, calls, tokens, money, lease } = wanted;
  const others = account.holds.filter((hold) => hold.id !== id);
  for (const window of BUDGET_WINDOWS) {
    const held = others.filter((hold) => hold[window] === account[window]);
    for (const [what, limit] of Object.entries(limits[window] ?? {}) as [keyof Amount, number | undefined][]) {
      if (limit === undefined) continue;
      const taken = held.reduce((sum, hold) => sum + hold[what], account.used[window][what]);
      // Who has used all of it gets nothing, not even what is estimated to be free.
      if (taken + wanted[what] > limit || taken >= limit) return { kind: 'refused', window, what, limit };
    }
  }
  const hold = { id, calls, tokens, money, day: account.day, month: account.month, until: now + lease };
  return { kind: 'held', account: { ...account, holds: [...others, hold] } };
}

/**
 * The call's true amount in place of what was held. A hold that was left behind is charged all the same; a turn is
 * charged once.
 */
export function settle(before: BudgetAccount, id: string, amount: Amount, now: number, turn?: RunTurn): BudgetAccount {
  const account = atTime(before, now);
  if (turn !== undefined && isPaid(account, turn))
    return { ...account, holds: account.holds.filter((hold) => hold.id !== id) };
  const hold = account.holds.find((each) => each.id === id);
  const charged = (window: BudgetWindow): Amount =>
    hold === undefined || hold[window] === account[window] ? add(account.used[window], amount) : account.used[window];
  return {
    ...account,
    used: { day: charged('day'), month: charged('month') },
    holds: account.holds.filter((each) => each !== hold),
    ...(turn === undefined ? {} : { paid: withPaid(account.paid, { ...turn, until: now + PAID_FOR }) }),
  };
}

/** The call cost nothing. */
export function giveBack(before: BudgetAccount, id: string, now: number): BudgetAccount {
  const account = atTime(before, now);
  return { ...account, holds: account.holds.filter((hold) => hold.id !== id) };
}

/** When the window ends. */
export function endOfWindow(window: BudgetWindow, now: number): number {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return window === 'day' ? Date.UTC(year, month, day + 1) : Date.UTC(year, month + 1, 1);
}

/**
 * The account as it is by now: new windows are empty, holds of dead processes are given back. A clock that runs
 * behind changes no window.
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
    holds: account.holds.filter(({ until }) => until > now),
    paid: account.paid.filter(({ until }) => until > now),
  };
}

function windowsAt(now: number): { readonly day: string; readonly month: string } {
  const day = new Date(now).toISOString().slice(0, 10);
  return { day, month: day.slice(0, 7) };
}

function isPaid({ paid }: BudgetAccount, { executionId, iteration }: RunTurn): boolean {
  return paid.some((turn) => turn.executionId === executionId && turn.iteration >= iteration);
}

function withPaid(paid: BudgetAccount['paid'], turn: BudgetAccount['paid'][number]): BudgetAccount['paid'] {
  return [...paid.filter(({ executionId }) => executionId !== turn.executionId), turn].slice(-PAID_RUNS);
}

function add(left: Amount, right: Amount): Amount {
  return { calls: left.calls + right.calls, tokens: left.tokens + right.tokens, money: left.money + right.money };
}
