/**
 * Limits how fast one connection, and one user over all connections to this process, may call and subscribe. Limits for
 * all processes together are in the store.
 */
import type { AnyOperation } from '../defineOperation';
import { OPERATIONS } from '../operations';
import type { MeteorRateLimiter } from './MeteorPackages';

/** Attempts in a window; its length in milliseconds. */
export const DDP_LIMITS = { model: 40, command: 200, subscription: 100, window: 10_000 } as const;

const CALLS_A_MODEL: ReadonlySet<string> = new Set(
  OPERATIONS.filter(({ callsModel }: AnyOperation) => callsModel === true).map(({ name }) => name),
);

export interface LimitedNames {
  readonly methods: readonly string[];
  readonly publications: readonly string[];
}

/** @returns removes the rules */
export function addDdpRateLimits(DDPRateLimiter: MeteorRateLimiter, names: LimitedNames): () => void {
  const limit = (type: 'method' | 'subscription', limited: ReadonlySet<string>, max: number): readonly string[] => {
    const name = (each: string): boolean => limited.has(each);
    return [
      DDPRateLimiter.addRule({ type, name, connectionId: () => true }, max, DDP_LIMITS.window),
      // Anonymous clients are limited per connection only.
      DDPRateLimiter.addRule({ type, name, userId: isSignedIn }, max * 2, DDP_LIMITS.window),
    ];
  };
  const modelCalls = new Set(names.methods.filter((name) => CALLS_A_MODEL.has(name)));
  const commands = new Set(names.methods.filter((name) => !CALLS_A_MODEL.has(name)));
  const rules = [
    ...limit('method', modelCalls, DDP_LIMITS.model),
    ...limit('method', commands, DDP_LIMITS.command),
    ...limit('subscription', new Set(names.publications), DDP_LIMITS.subscription),
  ];
  return () => {
    for (const rule of rules) DDPRateLimiter.removeRule(rule);
  };
}

function isSignedIn(userId: string | null): boolean {
  return typeof userId === 'string';
}
