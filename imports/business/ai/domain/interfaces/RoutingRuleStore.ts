/** Stores the routing rules that admins save at run time, for all processes. */
import type { RoutingRule } from '../entities/RoutingRule';

export interface StoredRoutingRule {
  readonly rule: RoutingRule;
  /** Milliseconds since the epoch. */
  readonly changedAt: number;
  /** The user who saved it. Absent once that user's data is deleted. */
  readonly changedBy?: string;
}

export interface RoutingRuleStore {
  /** All rules, by name. */
  all(): Promise<readonly StoredRoutingRule[]>;
  /** Replaces the rule of that name. */
  save(stored: StoredRoutingRule): Promise<void>;
  /** @returns whether there was one */
  remove(name: string): Promise<boolean>;
}
