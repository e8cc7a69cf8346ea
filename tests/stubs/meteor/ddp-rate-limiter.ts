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

  increment(event: RateEvent): void {
    const now = Date.now();
    if (now - this.since > this.interval) {
      this.counts.clear();
      this.since = now;
    }
    const bucket = this.bucketOf(event);
    this.counts.set(bucket, (this.counts.get(bucket) ?? 0) + 1);
  }

  /** @returns milliseconds until the next attempt is allowed, or 0 if the last one was */
  check(event: RateEvent): number {
    const count = this.counts.get(this.bucketOf(event)) ?? 0;
    return count > this.allowed ? this.interval - (Date.now() - this.since) : 0;
  }

  private bucketOf(event: RateEvent): string {
    return Object.entries(this.matcher)
      .map(([key, wanted]) => (wanted === null ? '' : `${key}${String(event[key as keyof RateEvent])}`))
      .join('');
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
  /** Called by the DDP server, as is `_check`. */
  _increment(event: RateEvent): void {
    for (const rule of rulesFor(event)) rule.increment(event);
  },
  _check(event: RateEvent): { readonly allowed: boolean; readonly timeToReset: number } {
    const timeToReset = Math.max(0, ...rulesFor(event).map((rule) => rule.check(event)));
    return { allowed: timeToReset === 0, timeToReset };
  },
  getErrorMessage: ({ timeToReset }: { readonly timeToReset: number }): string =>
    `Error, too many requests. Please slow down. You must wait ${Math.ceil(timeToReset / 1_000)} seconds before trying again.`,
};

/** Counts an attempt. @returns milliseconds to wait, or 0 if no rule limits it */
export function countAttempt(event: RateEvent): number {
  DDPRateLimiter._increment(event);
  return DDPRateLimiter._check(event).timeToReset;
}

function rulesFor(event: RateEvent): readonly Rule[] {
  return [...registry.rateRules.values()].filter((rule): rule is Rule => rule instanceof Rule && rule.matches(event));
}
