/**
 * Keeps the event loop free for others: while it is busy, requests of a user who takes more than a fair share of it
 * begin one by one, each once the loop has rested. Requests of others begin at once.
 */
import { performance } from 'node:perf_hooks';
import { LLMRateLimitError } from '../../ai/domain/errors/LLMErrors';
import { LoopUsage } from './LoopUsage';
import type { LoopTimes } from './LoopUsage';

export interface UserPacerOptions {
  /** Milliseconds, from any start. */
  readonly now?: () => number;
  /** Default: those of this process. */
  readonly loopTimes?: () => LoopTimes;
}

/** Called when a request ends; a second call has no effect. */
export type EndTurn = () => void;

/** A loop that works for a larger part of its time is busy. */
const BUSY = 0.5;
/** The loop rests as long as it has worked for the latest request that waited, before it begins another. */
const REST = 1;
/** After a large body, which keeps the loop busy for longer at a time. */
const REST_AFTER_LARGE = 3;
/** Bytes. While others are active, a user's large bodies are read one after another, however idle the loop was. */
const LARGE = 256 * 1024;
/** Milliseconds that the loop works for a byte of a body, about. */
const WORK_PER_BYTE = 25e-6;
/** Milliseconds between two requests of a user that begin although the loop is busy. */
const MAX_PAUSE = 250;
const MAX_PAUSE_BEFORE_LARGE = 1_000;
/** Milliseconds that a request waits. */
const MAX_WAIT = 10_000;
/** Requests of a user that wait. */
const MAX_WAITING = 256;
/** Milliseconds between two looks at the loop while requests wait. */
const INTERVAL = 2;

interface WaitingRequest {
  readonly isLarge: boolean;
  readonly since: number;
  readonly begin: () => void;
  readonly refuse: (reason: unknown) => void;
}

interface WaitingUser {
  readonly userId: string;
  readonly requests: WaitingRequest[];
}

interface Begun {
  readonly at: number;
  readonly times: LoopTimes;
  readonly isLarge: boolean;
}

export class UserPacer {
  private readonly now: () => number;
  private readonly loopTimes: () => LoopTimes;
  private readonly usage: LoopUsage;
  /** Whose turn is next comes first. */
  private readonly queue: WaitingUser[] = [];
  /** When a user's latest large body will have been worked off, and the loop rested. */
  private readonly largeUntil = new Map<string, number>();
  private latest: Begun | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor({ now = () => performance.now(), loopTimes = readLoopTimes }: UserPacerOptions = {}) {
    this.now = now;
    this.loopTimes = loopTimes;
    this.usage = new LoopUsage({ now, loopTimes });
  }

  /**
   * @param bytes of the request's body
   * @param signal ends the wait
   * @returns a promise only if the request has to wait
   * @throws LLMRateLimitError if too many requests wait, or this one too long; the signal's reason
   */
  enter(userId: string, bytes: number, signal?: AbortSignal): EndTurn | Promise<EndTurn> {
    const isLarge = bytes >= LARGE;
    const waiting = this.queue.find((user) => user.userId === userId);
    if (waiting === undefined && !this.mustWait(userId, isLarge)) return this.begin(userId, bytes);
    if (waiting !== undefined && waiting.requests.length >= MAX_WAITING)
      throw refusal(`${waiting.requests.length} wait already`);
    signal?.throwIfAborted();
    // To receive it was work, too.
    this.usage.begin(userId)();
    return new Promise((resolve, reject) => {
      const request: WaitingRequest = {
        isLarge,
        since: this.now(),
        begin: () => resolve(this.begin(userId, bytes)),
        refuse: reject,
      };
      if (waiting === undefined) this.queue.push({ userId, requests: [request] });
      else waiting.requests.push(request);
      signal?.addEventListener('abort', () => this.withdraw(userId, request, signal.reason), { once: true });
      this.timer ??= setTimeout(() => this.beginNext(), INTERVAL);
    });
  }

  /** What the loop does for requests of nobody who is known is not taken for what users cause. See `LoopUsage`. */
  countUnidentified(change: 1 | -1): void {
    this.usage.countUnidentified(change);
  }

  private mustWait(userId: string, isLarge: boolean): boolean {
    const isBusy = this.usage.utilization > BUSY;
    if (this.usage.activeUsers < 2) return false;
    return (isLarge && this.hasLarge(userId)) || (isBusy && this.usage.isAboveShare(userId));
  }

  private hasLarge(userId: string): boolean {
    return (this.largeUntil.get(userId) ?? -Infinity) > this.now();
  }

  private begin(userId: string, bytes: number): EndTurn {
    if (bytes >= LARGE) {
      for (const [user, until] of this.largeUntil) if (until <= this.now()) this.largeUntil.delete(user);
      this.largeUntil.set(userId, this.now() + bytes * WORK_PER_BYTE * (1 + REST_AFTER_LARGE));
    }
    return this.usage.begin(userId);
  }

  private beginNext(): void {
    this.refuseLate();
    const hasRested = this.hasRested();
    const at = this.queue.findIndex(
      ({ userId, requests: [first] }) => hasRested && !(first?.isLarge === true && this.hasLarge(userId)),
    );
    this.beginFirst(at < 0 && this.isPauseOver() ? 0 : at);
    this.timer = this.queue.length === 0 ? undefined : setTimeout(() => this.beginNext(), INTERVAL);
  }

  private isPauseOver(): boolean {
    const [first] = this.queue[0]?.requests ?? [];
    if (first === undefined) return false;
    const pause = first.isLarge ? MAX_PAUSE_BEFORE_LARGE : MAX_PAUSE;
    return this.now() - Math.max(this.latest?.at ?? 0, first.since) >= pause / this.queue.length;
  }

  private hasRested(): boolean {
    if (this.latest === undefined || this.now() - this.latest.at > MAX_PAUSE_BEFORE_LARGE)
      return this.usage.utilization <= BUSY;
    const { times, isLarge } = this.latest;
    const { active, idle } = this.loopTimes();
    return idle - times.idle >= (active - times.active) * (isLarge ? REST_AFTER_LARGE : REST);
  }

  private beginFirst(at: number): void {
    const [user] = at < 0 ? [] : this.queue.splice(at, 1);
    const first = user?.requests.shift();
    if (user === undefined || first === undefined) return;
    // Users take turns.
    if (user.requests.length > 0) this.queue.push(user);
    this.latest = { at: this.now(), times: this.loopTimes(), isLarge: first.isLarge };
    first.begin();
  }

  private refuseLate(): void {
    const latest = this.now() - MAX_WAIT;
    for (const { userId, requests } of [...this.queue])
      for (const request of [...requests])
        if (request.since <= latest) this.withdraw(userId, request, refusal(`this one waited ${MAX_WAIT / 1_000} s`));
  }

  private withdraw(userId: string, request: WaitingRequest, reason: unknown): void {
    const user = this.queue.find((each) => each.userId === userId);
    const at = user?.requests.indexOf(request) ?? -1;
    if (user === undefined || at < 0) return;
    user.requests.splice(at, 1);
    if (user.requests.length === 0) this.queue.splice(this.queue.indexOf(user), 1);
    request.refuse(reason);
  }
}

function refusal(fact: string): LLMRateLimitError {
  return new LLMRateLimitError(
    `The server is busy, and your requests take more than an equal share of it; ${fact}. Send fewer at a time.`,
    { retryAfterMs: 1_000 },
  );
}

function readLoopTimes(): LoopTimes {
  return performance.eventLoopUtilization();
}
