/**
 * Limits how fast one connection, and one user over all connections to this process, may call and subscribe. Limits for
 * all processes together are in the store.
 */
import { DDPRateLimiter } from 'meteor/ddp-rate-limiter';

/** Attempts in a window; its length in milliseconds. */
export const DDP_LIMITS = { model: 40, command: 200, subscription: 100, window: 10_000 } as const;

const CALLS_A_MODEL = /^ai\.(?:llm\.|runs\.start$|providers\.test$)/;

/** @returns removes the rules */
export function addDdpRateLimits(names: {
  readonly methods: readonly string[];
  readonly publications: readonly string[];
}): () => void {
  const modelCalls = new Set(names.methods.filter((name) => CALLS_A_MODEL.test(name)));
  const commands = new Set(names.methods.filter((name) => !CALLS_A_MODEL.test(name)));
  const rules = [
    ...limit('method', modelCalls, DDP_LIMITS.model),
    ...limit('method', commands, DDP_LIMITS.command),
    ...limit('subscription', new Set(names.publications), DDP_LIMITS.subscription),
  ];
  return () => {
    for (const rule of rules) DDPRateLimiter.removeRule(rule);
  };
}

/** Anonymous clients are limited per connection only. */
function limit(type: 'method' | 'subscription', names: ReadonlySet<string>, max: number): readonly string[] {
  const name = (each: string): boolean => names.has(each);
  return [
    DDPRateLimiter.addRule({ type, name, connectionId: () => true }, max, DDP_LIMITS.window),
    DDPRateLimiter.addRule({ type, name, userId: isSignedIn }, max * 2, DDP_LIMITS.window),
  ];
}

function isSignedIn(userId: string | null): boolean {
  return typeof userId === 'string';
}
