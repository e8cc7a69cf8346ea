/**
 * Meteor's DDPRateLimiter (packages/ddp-rate-limiter, packages/rate-limit): counts per rule and bucket, in this
 * process.
 */
import { registry } from '../server/registry';
import { Random } from './random';

export interface RateEvent {
  readonly type: 'method' | 'subscription';
  readonly name: string;
  readonly userId: string | null;
  readonly connectionId: string;
  readonly clientAddress: string;
}
export type RateMatcher = {
  readonly [Key in keyof RateEvent]?: RateEvent[Key] | null | ((value: RateEvent[Key]) => boolean);
};

class Rule {
  readonly matcher: RateMatcher;
  readonly allowed: number;
  readonly interval: number;
  private readonly counts = new Map<string, number>();
  private since = Date.now();

  constructor(matcher: RateMatcher, allowed: number, interval: number) {
    this.matcher = matcher;
    this.allowed = allowed;
    this.interval = interval;
  }

  matches(event: RateEvent): boolean {
    return Object.entries(this.matcher).every(([key, wanted]) => {
      const value = event[key as keyof RateEvent];
      return (
        wanted === null ||
        (typeof wanted === 'function' ? (wanted as (value: unknown) => boolean)(value) : wanted === value)
      );
    });
  }

  /** @returns milliseconds until the next attempt is allowed, or 0 if it is allowed now */
  count(event: RateEvent): number {
    const now = Date.now();
    if (now - this.since > this.interval) {
      this.counts.clear();
      this.since = now;
    }
    const bucket = Object.entries(this.matcher)
      .map(([key, wanted]) => (wanted === null ? '' : `${key}${String(event[key as keyof RateEvent])}`))
      .join('');
    const count = (this.counts.get(bucket) ?? 0) + 1;
    this.counts.set(bucket, count);
    return count > this.allowed ? this.interval - (now - this.since) : 0;
  }
}

export const DDPRateLimiter = {
  /** @returns the rule's id */
  addRule(matcher: RateMatcher, numRequests = 10, timeInterval = 1000): string {
    const id = Random.id();
    registry.rateRules.set(id, new Rule(matcher, numRequests, timeInterval));
    return id;
  },
  removeRule(id: string): boolean {
    return registry.rateRules.delete(id);
  },
};

/** Counts an attempt. @returns milliseconds to wait, or 0 if no rule limits it */
export function countAttempt(event: RateEvent): number {
  const rules = [...registry.rateRules.values()].filter(
    (rule): rule is Rule => rule instanceof Rule && rule.matches(event),
  );
  return Math.max(0, ...rules.map((rule) => rule.count(event)));
}
