/**
 * The routing rules of the settings, and those that admins save at run time, which replace those of the same name.
 * Other processes notice a change within `RULES_MAX_AGE_MS`.
 */
import { consoleLogger } from '../../../../../log/consoleLogger';
import type { RoutingRule } from '../../../domain/entities/RoutingRule';
import type { Logger } from '../../../domain/interfaces/Logger';
import type { RoutingRuleStore, StoredRoutingRule } from '../../../domain/interfaces/RoutingRuleStore';

export interface RoutingRulesOptions {
  readonly settings?: readonly RoutingRule[] | undefined;
  /** Absent: rules cannot be saved at run time. */
  readonly store?: RoutingRuleStore | undefined;
  readonly logger?: Logger | undefined;
  /** Milliseconds on a clock that never runs backwards. */
  readonly clock?: (() => number) | undefined;
}

export interface EffectiveRule extends Partial<Omit<StoredRoutingRule, 'rule'>> {
  readonly rule: RoutingRule;
  readonly source: 'settings' | 'dashboard';
  /** A saved rule that replaces one of the settings. */
  readonly isOverride: boolean;
}

/** How long a process relies on the rules it has read. */
export const RULES_MAX_AGE_MS = 2_000;

export class RoutingRules {
  private readonly settings: ReadonlyMap<string, RoutingRule>;
  private readonly store: RoutingRuleStore | undefined;
  private readonly logger: Logger;
  private readonly clock: () => number;
  private rules: ReadonlyMap<string, EffectiveRule>;
  private readAt = -Infinity;
  private reading: Promise<void> | undefined;
  private hasRead = false;

  constructor({ settings = [], store, logger = consoleLogger, clock = () => performance.now() }: RoutingRulesOptions) {
    this.settings = new Map(settings.map((rule) => [rule.name, rule]));
    this.store = store;
    this.logger = logger;
    this.clock = clock;
    this.rules = this.merge([]);
  }

  /** Whether `cached` and `find` may be used without `refresh`. */
  get isFresh(): boolean {
    return this.store === undefined || this.clock() - this.readAt < RULES_MAX_AGE_MS;
  }

  /**
   * Reads the saved rules, unless they are fresh.
   * @throws whatever the store throws, as long as nothing was read; afterwards the rules stay as they were read last
   */
  async refresh(): Promise<void> {
    if (this.isFresh) return;
    await (this.reading ??= this.read().finally(() => {
      this.reading = undefined;
    }));
  }

  /** Reads the saved rules again, even if another read has just begun. */
  async reload(): Promise<void> {
    await this.reading?.catch(() => undefined);
    this.readAt = -Infinity;
    await this.refresh();
  }

  /** The rule of that name as last read, unless it is disabled. */
  find(name: string): RoutingRule | undefined {
    const rule = this.rules.get(name)?.rule;
    return rule?.enabled === true ? rule : undefined;
  }

  /** All rules as last read, by name. */
  all(): readonly EffectiveRule[] {
    return [...this.rules.values()];
  }

  configured(name: string): RoutingRule | undefined {
    return this.settings.get(name);
  }

  private async read(): Promise<void> {
    const startedAt = this.clock();
    try {
      this.rules = this.merge((await this.store?.all()) ?? []);
      this.hasRead = true;
    } catch (error) {
      if (!this.hasRead) throw error;
      this.logger.error('Could not read the routing rules. The ones read last still apply.', error);
    }
    this.readAt = startedAt;
  }

  private merge(stored: readonly StoredRoutingRule[]): ReadonlyMap<string, EffectiveRule> {
    const rules = new Map<string, EffectiveRule>();
    for (const [name, rule] of this.settings) rules.set(name, { rule, source: 'settings', isOverride: false });
    for (const { rule, ...change } of stored)
      rules.set(rule.name, { rule, source: 'dashboard', isOverride: this.settings.has(rule.name), ...change });
    return new Map([...rules].sort(([left], [right]) => (left < right ? -1 : Number(left > right))));
  }
}
