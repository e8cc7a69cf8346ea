/**
 * Which limits a user has. Those set at run time replace those of the settings, and a user's own replace those of
 * everyone. Other processes notice a change within `MAX_AGE_MS`.
 */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../ai/domain/util/growingCapacity';
import type { BudgetLimits, BudgetSettings } from '../../ai/domain/entities/BudgetAccount';
import { isStoreOutage } from '../../ai/domain/errors/LLMErrors';
import { omitUndefined } from '../../ai/domain/util/omitUndefined';
import type { BudgetLimitStore, StoredBudgetLimits } from '../domain/BudgetLimitStore';
import type { BudgetLimitsView } from '../domain/BudgetViews';

export interface BudgetPolicyOptions {
  readonly settings?: BudgetSettings | undefined;
  /** Absent: limits cannot be set at run time. */
  readonly store?: BudgetLimitStore | undefined;
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock?: () => number;
}

interface CachedRow {
  readonly readAt: number;
  readonly row: Promise<StoredBudgetLimits | undefined>;
  /** Set once the row has been read. */
  known?: { readonly row: StoredBudgetLimits | undefined };
}

/** How long a process relies on the limits it has read. */
export const MAX_AGE_MS = 2_000;
const MAX_CACHED_USERS = 10_000;
const EVERYONE = Symbol('everyone');

export class BudgetPolicy {
  private readonly settings: BudgetSettings;
  private readonly store: BudgetLimitStore | undefined;
  private readonly clock: () => number;
  private readonly cache = new LRUCache<string | typeof EVERYONE, CachedRow>(growingCapacity(MAX_CACHED_USERS));

  /** Whether there are limits, or can be at any time. */
  readonly hasLimits: boolean;
  /** Whether limits can be set at run time. */
  readonly isChangeable: boolean;

  constructor({ settings, store, clock = () => performance.now() }: BudgetPolicyOptions) {
    this.settings = settings ?? {};
    this.isChangeable = store !== undefined;
    this.hasLimits = this.isChangeable || settings !== undefined;
    this.store = store;
    this.clock = clock;
  }

  /**
   * Answers at once if the limits were read a moment ago.
   * @returns undefined for a user without limits
   * @throws whatever the store throws, since limits that can't be read can't be enforced. During an outage, those that
   *   were read before still apply
   */
  limitsOf(userId: string): BudgetLimits | undefined | Promise<BudgetLimits | undefined> {
    const [own, everyone] = [this.read(userId), this.read(undefined)];
    if (own.known !== undefined && everyone.known !== undefined)
      return this.limitsFrom(userId, own.known.row, everyone.known.row);
    return Promise.all([own.row, everyone.row]).then((rows) => this.limitsFrom(userId, ...rows));
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
    this.cache.delete(userId ?? EVERYONE);
  }

  private read(userId: string | undefined): CachedRow {
    const { store } = this;
    if (store === undefined) return NOTHING_STORED;
    const key = userId ?? EVERYONE;
    const cached = this.cache.get(key);
    const now = this.clock();
    if (cached !== undefined && now - cached.readAt < MAX_AGE_MS) return cached;
    const row = store.find(userId).catch((error: unknown) => {
      // Nobody can change limits meanwhile.
      if (isStoreOutage(error) && cached !== undefined) return cached.row;
      throw error;
    });
    const entry: CachedRow = { readAt: now, row };
    this.cache.set(key, entry);
    row.then(
      (known) => (entry.known = { row: known }),
      () => {
        if (this.cache.peek(key) === entry) this.cache.delete(key);
      },
    );
    return entry;
  }
}

const NOTHING_STORED: CachedRow = { readAt: 0, row: Promise.resolve(undefined), known: { row: undefined } };

function viewOf({ limits, changedAt, changedBy }: StoredBudgetLimits): BudgetLimitsView {
  return omitUndefined({ limits, source: 'dashboard', changedAt, changedBy });
}
