/**
 * Estimates what each user takes of the event loop. Nothing says for whom the loop works, so what it has worked between
 * two looks is divided among the users by the requests that they had in progress meanwhile.
 */

/** Milliseconds so far. */
export interface LoopTimes {
  readonly active: number;
  readonly idle: number;
}

export interface LoopUsageOptions {
  /** Milliseconds, from any start. */
  readonly now: () => number;
  readonly loopTimes: () => LoopTimes;
}

/** Milliseconds between two looks, at least. */
const INTERVAL = 4;
/** Milliseconds. */
const HALF_LIFE = 1_000;
/** Milliseconds after which a request is taken to wait for something else, such as a vendor's answer. */
const WORKING_TIME = 1_000;
/** What a decaying sum comes to with one unit per millisecond. */
const PER_MILLISECOND = HALF_LIFE / Math.LN2;
/** A twentieth of the loop: who takes less is within any share. */
const LIGHT = 0.05 * PER_MILLISECOND;
/** Requests, 20 per second: who begins fewer, one after another, waits for the server as it is. */
const FEW = 0.02 * PER_MILLISECOND;
/** Times what others take on average. Where all take about the same, some always take more than others. */
const TOLERANCE = 1.5;
/** With less, a user has not been active for some seconds. */
const INACTIVE = LIGHT / 20;

interface UserShare {
  /** Milliseconds of the loop. */
  readonly used: DecayingSum;
  /** Requests. */
  readonly begun: DecayingSum;
  /** Requests in progress that are taken to work. */
  working: number;
  /** Requests that have been so since the latest look. */
  worked: number;
}

interface WorkingRequest {
  readonly share: UserShare;
  readonly until: number;
  hasEnded: boolean;
}

export class LoopUsage {
  private readonly options: LoopUsageOptions;
  private readonly shares = new Map<string, UserShare>();
  /** Requests that have arrived since the latest look, and of which nobody knows yet whose they are. */
  private unidentified = 0;
  private readonly used = new DecayingSum(HALF_LIFE);
  /** In the order in which they began. */
  private readonly requests: WorkingRequest[] = [];
  private latest: LoopTimes;
  private latestAt: number;
  /** The share of its time that the loop was active between the last two looks: from 0 to 1. */
  private latestUtilization = 0;

  constructor(options: LoopUsageOptions) {
    this.options = options;
    this.latest = options.loopTimes();
    this.latestAt = options.now();
  }

  get utilization(): number {
    this.look();
    return this.latestUtilization;
  }

  /** Users who have lately been active. */
  get activeUsers(): number {
    return this.shares.size;
  }

  /** @param change 1 for a request that has arrived, -1 once it has been identified */
  countUnidentified(change: 1 | -1): void {
    this.look();
    this.unidentified = Math.max(0, this.unidentified + change);
  }

  /** @returns to be called when the request ends; a second call has no effect */
  begin(userId: string): () => void {
    this.look();
    const share = this.shareOf(userId);
    const now = this.options.now();
    const request = { share, until: now + WORKING_TIME, hasEnded: false };
    share.working += 1;
    share.worked += 1;
    share.begun.add(1, now);
    this.requests.push(request);
    return () => end(request);
  }

  /** The user has more than few requests, and takes clearly more than the other active users do on average. */
  isAboveShare(userId: string): boolean {
    this.look();
    const now = this.options.now();
    const share = this.shares.get(userId);
    if (share === undefined || (share.working === 0 && share.begun.at(now) < FEW)) return false;
    const used = share.used.at(now);
    const others = this.used.at(now) - used;
    return used > LIGHT && used * (this.shares.size - 1) > others * TOLERANCE;
  }

  private shareOf(userId: string): UserShare {
    const known = this.shares.get(userId);
    if (known !== undefined) return known;
    const share = newShare();
    this.shares.set(userId, share);
    return share;
  }

  private look(): void {
    const now = this.options.now();
    if (now - this.latestAt < INTERVAL) return;
    const times = this.options.loopTimes();
    const active = times.active - this.latest.active;
    const idle = times.idle - this.latest.idle;
    this.latest = times;
    this.latestAt = now;
    this.latestUtilization = active / (active + idle);
    this.divide(active, now);
    this.endWorking(now);
    for (const share of this.shares.values()) share.worked = share.working;
    this.unidentified = 0;
  }

  private divide(active: number, now: number): void {
    let worked = this.unidentified;
    for (const share of this.shares.values()) worked += share.worked;
    if (worked > 0) this.used.add(active, now);
    for (const [userId, share] of this.shares)
      if (share.worked > 0) share.used.add((active * share.worked) / worked, now);
      else if (share.used.at(now) < INACTIVE) this.shares.delete(userId);
  }

  private endWorking(now: number): void {
    let ended = 0;
    for (const request of this.requests) {
      if (!request.hasEnded && request.until > now) break;
      end(request);
      ended += 1;
    }
    this.requests.splice(0, ended);
  }
}

function newShare(): UserShare {
  return { used: new DecayingSum(HALF_LIFE), begun: new DecayingSum(HALF_LIFE), working: 0, worked: 0 };
}

function end(request: WorkingRequest): void {
  if (request.hasEnded) return;
  request.hasEnded = true;
  request.share.working -= 1;
}

/** A sum whose parts count half after each half-life. */
class DecayingSum {
  private readonly halfLife: number;
  private sum = 0;
  private asOf = 0;

  /** @param halfLife milliseconds */
  constructor(halfLife: number) {
    this.halfLife = halfLife;
  }

  add(amount: number, now: number): void {
    this.sum = this.at(now) + amount;
    this.asOf = now;
  }

  at(now: number): number {
    return this.sum * 2 ** ((this.asOf - now) / this.halfLife);
  }
}
