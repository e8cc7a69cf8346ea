/** What this process's calls have shown about the targets of routing rules: their latency, and which to spare. */
import { LRUCache } from 'lru-cache';
import { growingCapacity } from '../../../domain/util/growingCapacity';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { FailuresInARow } from '../../../domain/util/FailuresInARow';
import { FairLruMap } from '../../../domain/util/FairLruMap';
import { omitUndefined } from '../../../domain/util/omitUndefined';

/** Streams are measured up to their first content, other responses up to their end. */
export type ResponseKind = 'stream' | 'complete';

export interface TargetLatency {
  /** Moving average of the time to the first content of streams, in milliseconds. */
  readonly firstToken?: number;
  /** Moving average of the time to a complete response, in milliseconds. */
  readonly complete?: number;
}

/** Two users may choose the same name. */
export interface OwnedConversation {
  readonly userId: string;
  readonly name: string;
}

/** The weight of the newest measurement in the moving average. */
const NEWEST_WEIGHT = 0.3;
/** Timeouts in a row after which a target is spared. */
const TIMEOUTS_IN_A_ROW = 3;
const TIMEOUT_PAUSE_MS = 30_000;
/** For a limited target whose vendor does not say how long to wait. */
const DEFAULT_PAUSE_MS = 5_000;
const MAX_PAUSE_MS = 60_000;
const MAX_TRACKED = 10_000;

export class RouteStats {
  private readonly clock: () => number;
  private readonly averages = new LRUCache<string, number>(growingCapacity(MAX_TRACKED));
  /** By rule and target: until when the target is spared. */
  private readonly pauses = new LRUCache<string, number>(growingCapacity(MAX_TRACKED));
  /** The same, for users whose own requests it is too slow for. */
  private readonly ownPauses = new FairLruMap<number>({ entries: MAX_TRACKED });
  private readonly timeouts = new LRUCache<string, FailuresInARow>(growingCapacity(MAX_TRACKED));
  /** By rule and conversation: the target that has served it last. */
  private readonly conversations = new FairLruMap<string>({ entries: MAX_TRACKED });

  /** @param clock milliseconds on a clock that never runs backwards */
  constructor(clock: () => number = () => performance.now()) {
    this.clock = clock;
  }

  /** @param target as the rule names it */
  succeeded(
    rule: string,
    target: string,
    kind: ResponseKind,
    milliseconds: number,
    conversation?: OwnedConversation,
  ): void {
    const key = `${kind} ${target}`;
    const before = this.averages.get(key);
    this.averages.set(key, before === undefined ? milliseconds : before + NEWEST_WEIGHT * (milliseconds - before));
    const pair = keyOf(rule, target);
    this.timeouts.delete(pair);
    this.pauses.delete(pair);
    if (conversation !== undefined) this.conversations.set(conversation.userId, keyOf(rule, conversation.name), target);
  }

  /**
   * A target that is throttled, or too slow for the rule several times in a row, is called last for a while: for the
   * user whose requests alone are too slow, or for everyone. The circuits of the providers take care of outages.
   */
  failed(rule: string, target: string, { code, retryAfterMs }: LLMError, userId: string): void {
    const pair = keyOf(rule, target);
    if (code === 'rate-limited' || code === 'quota-exceeded') {
      this.pauses.set(pair, this.clock() + Math.min(retryAfterMs ?? DEFAULT_PAUSE_MS, MAX_PAUSE_MS));
    } else if (code === 'timeout') {
      const timeouts = this.timeouts.get(pair) ?? new FailuresInARow(TIMEOUTS_IN_A_ROW);
      this.timeouts.set(pair, timeouts);
      timeouts.add(userId);
      const until = this.clock() + TIMEOUT_PAUSE_MS;
      if (timeouts.isReachedForAll) this.pauses.set(pair, until);
      else if (timeouts.isReachedFor(userId)) this.ownPauses.set(userId, pair, until);
    }
  }

  /** @param userId default: whether it is called last for everyone */
  isPaused(rule: string, target: string, userId?: string): boolean {
    const pair = keyOf(rule, target);
    const own = userId === undefined ? undefined : this.ownPauses.get(userId, pair);
    return Math.max(this.pauses.get(pair) ?? -Infinity, own ?? -Infinity) > this.clock();
  }

  /** The moving average of that kind of response, in milliseconds. Undefined for a target not measured yet. */
  latencyOf(target: string, kind: ResponseKind): number | undefined {
    return this.averages.get(`${kind} ${target}`);
  }

  latencies(target: string): TargetLatency {
    const firstToken = this.latencyOf(target, 'stream');
    const complete = this.latencyOf(target, 'complete');
    return omitUndefined({ firstToken, complete });
  }

  /** The target that has served the conversation last. */
  targetOf(rule: string, { userId, name }: OwnedConversation): string | undefined {
    return this.conversations.get(userId, keyOf(rule, name));
  }
}

function keyOf(rule: string, other: string): string {
  return `${rule} ${other}`;
}
