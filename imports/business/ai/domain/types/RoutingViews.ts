/** Routing rules as admins see them. Times are milliseconds since the epoch, latencies milliseconds. */
import type { RoutingRule, RoutingTarget } from '../entities/RoutingRule';

export interface RoutingTargetView extends RoutingTarget {
  /** Why requests pass over the target, as a sentence. */
  readonly problem?: string;
  /** The circuit of its provider, in the process that answers. */
  readonly circuit?: 'closed' | 'open' | 'probing';
  /** Throttled or too slow, and therefore called last for a while. */
  readonly isPaused: boolean;
  /** Moving average of the time to the first content of streams. Absent: not measured yet. */
  readonly firstToken?: number;
  /** Moving average of the time to a complete response. */
  readonly complete?: number;
}

export interface RoutingRuleView extends Omit<RoutingRule, 'targets'> {
  readonly targets: readonly RoutingTargetView[];
  /** Rules of the settings are replaced by saving one of the same name, and apply again once that is removed. */
  readonly source: 'settings' | 'dashboard';
  /** A saved rule that replaces one of the settings. */
  readonly isOverride: boolean;
  readonly changedAt?: number;
  readonly changedBy?: string;
}
