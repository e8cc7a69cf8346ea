/**
 * Which limits a user has. Those set at run time replace those of the settings, and a user's own replace those of
 * everyone. Other processes notice a change within `MAX_AGE_MS`.
 */
import type { BudgetLimits, BudgetSettings } from '../../ai/domain/entities/BudgetAccount';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { BudgetLimitStore, StoredBudgetLimits } from '../domain/BudgetLimitStore';
import type { BudgetLimitsView } from '../domain/BudgetViews';
import { FreshReads } from './FreshReads';
import type { Reading } from './FreshReads';

export interface BudgetPolicyOptions {
  readonly settings?: BudgetSettings | undefined;
  /** Absent: limits cannot be set at run time. */
  readonly store?: BudgetLimitStore | undefined;
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock?: () => number;
}

const EVERYONE = Symbol('everyone');

export class BudgetPolicy {
  private readonly settings: BudgetSettings;
  private readonly rows: FreshReads<string | typeof EVERYONE, StoredBudgetLimits | undefined> | undefined;

  /** Whether there are limits, or can be at any time. */
  readonly hasLimits: boolean;
  /** Whether limits can be set at run time. */
  readonly isChangeable: boolean;

  constructor({ settings, store, clock = () => performance.now() }: BudgetPolicyOptions) {
    this.settings = settings ?? {};
    this.isChangeable = store !== undefined;
    this.hasLimits = this.isChangeable || settings !== undefined;
    this.rows = store && new FreshReads((key) => store.find(key === EVERYONE ? undefined : key), clock);
  }

  /**
   * Answers at once if the limits were read a moment ago.
   * @returns undefined for a user without limits
   * @throws whatever the store throws, since limits that can't be read can't be enforced. During an outage, those that
   *   were read before still apply
   */
  limitsOf(userId: string): BudgetLimits | undefined | Promise<BudgetLimits | undefined> {
    const [own, everyone] = [this.read(userId), this.read(EVERYONE)];
    if (own.known !== undefined && everyone.known !== undefined)
      return this.limitsFrom(userId, own.known.value, everyone.known.value);
    return Promise.all([own.value, everyone.value]).then((rows) => this.limitsFrom(userId, ...rows));
  }

  private limitsFrom(
    userId: string,
    own: StoredBudgetLimits | undefined,
    everyone: StoredBudgetLimits | undefined,
  ): BudgetLimits | undefined {
    const { limits } = this.effective(userId, own, everyone);
    return limits.day === undefined && limits.month === undefined ? undefined : limits;
  }

  /** The limits of users who have none of their own. @param row the stored ones */
  forEveryone(row: StoredBudgetLimits | undefined): BudgetLimitsView {
    if (row !== undefined) return viewOf(row);
    const { users: _, ...limits } = this.settings;
    return Object.keys(limits).length === 0 ? { limits, source: 'none' } : { limits, source: 'settings' };
  }

  /** @param own the user's stored limits @param everyone the stored limits of everyone */
  effective(
    userId: string,
    own: StoredBudgetLimits | undefined,
    everyone: StoredBudgetLimits | undefined,
  ): BudgetLimitsView & { readonly isOwn: boolean } {
    if (own !== undefined) return { ...viewOf(own), isOwn: true };
    const { users = {} } = this.settings;
    const configured = Object.hasOwn(users, userId) ? users[userId] : undefined;
    if (configured !== undefined) return { limits: configured, source: 'settings', isOwn: true };
    return { ...this.forEveryone(everyone), isOwn: false };
  }

  /** Users whose limits the settings define. */
  configuredUsers(): readonly string[] {
    return Object.keys(this.settings.users ?? {});
  }

  /** Reads the stored limits again. @param userId undefined: those of everyone */
  forget(userId: string | undefined): void {
    this.rows?.forget(userId ?? EVERYONE);
  }

  private read(key: string | typeof EVERYONE): Reading<StoredBudgetLimits | undefined> {
    return this.rows?.read(key) ?? NOTHING_STORED;
  }
}

const NOTHING_STORED: Reading<undefined> = {
  readAt: 0,
  value: Promise.resolve(undefined),
  known: { value: undefined },
};

function viewOf({ limits, changedAt, changedBy }: StoredBudgetLimits): BudgetLimitsView {
  return omitUndefined({ limits, source: 'dashboard', changedAt, changedBy });
}
