/**
 * Counts what users do in this process, and shares it with the others through the store. A process asks the store
 * before it has added more than a twentieth of a limit, so that it exceeds a limit by no more than that; below, nothing
 * is stored but what is held for long.
 */
import { randomUUID } from 'node:crypto';
import {
  changedLoad,
  isHeld,
  isSameLoad,
  LOAD_KINDS,
  loadAt,
  loadOfOthers,
  noLoad,
  withLoad,
} from '../domain/UserLoad';
import type { LoadAmounts, LoadKind, UserAccount, UserLoad } from '../domain/UserLoad';
import { isStoreOutage, LLMServerError } from '../../ai/domain/errors/LLMErrors';
import type { AccountStore } from '../domain/AccountStore';
import type { Logger } from '../../ai/domain/interfaces/Logger';
import { runDetached } from '../../ai/application/services/shared/runDetached';

export interface UserLoadsOptions {
  readonly limits: Readonly<Record<LoadKind, number>>;
  /** Absent: no other process serves these users. */
  readonly store: AccountStore<UserAccount> | undefined;
  /** Milliseconds after which what a dead process held no longer counts. */
  readonly leaseMs: number;
  /** Milliseconds since the epoch. */
  readonly now: () => number;
  readonly logger: Logger;
}

export interface ReachedLimit {
  readonly kind: LoadKind;
  /** In all processes. */
  readonly used: number;
}

interface Question {
  readonly amounts: LoadAmounts;
  readonly resolve: (reached: ReachedLimit | undefined) => void;
  readonly reject: (error: unknown) => void;
}

interface Entry {
  own: UserLoad;
  /** What the store has of it. */
  shared: UserLoad;
  /** When it was stored last, or found to be nothing. */
  sharedAt: number;
  /** The load of the other processes when the store was last asked. */
  others: UserLoad;
  readonly questions: Question[];
  isAsking: boolean;
}

/** The store is asked before more than one of so many parts of a limit was added. */
const STEPS = 20;
/** Milliseconds for which a refusal may rely on what the others did, so that refused requests cost little. */
const FRESH_MS = 200;
const FLUSH_EVERY_MS = 1_000;
/** A write starts again if another process was faster. One of them always succeeds. */
const MAX_ATTEMPTS = 1_000;

export class UserLoads {
  private readonly options: UserLoadsOptions;
  private readonly process = randomUUID();
  private readonly users = new Map<string, Entry>();
  private flushing: Promise<void> | undefined;
  private timer: ReturnType<typeof setInterval> | undefined;

  constructor(options: UserLoadsOptions) {
    this.options = options;
  }

  /** The start of the current minute. */
  get minute(): number {
    return noLoad(this.options.now()).minute;
  }

  /**
   * Adds the amounts unless that exceeds a limit.
   * @returns the limit
   * @throws what the store throws, unless it cannot be reached
   */
  take(userId: string, amounts: LoadAmounts): ReachedLimit | undefined | Promise<ReachedLimit | undefined> {
    const entry = this.entryOf(userId);
    const now = this.options.now();
    entry.own = loadAt(entry.own, now);
    const total = changedLoad(entry.own, amounts);
    const alone = this.reached(total, entry.own, amounts);
    if (alone !== undefined || this.options.store === undefined) {
      if (alone === undefined) entry.own = total;
      return alone;
    }
    const others = loadAt(entry.others, now);
    const together = this.reached(total, entry.own, amounts, others);
    if (together !== undefined && now - entry.sharedAt < FRESH_MS) return together;
    if (together !== undefined || entry.isAsking || this.isStep(total, loadAt(entry.shared, now)))
      return this.ask(userId, entry, amounts);
    entry.own = total;
    return undefined;
  }

  add(userId: string, amounts: LoadAmounts): void {
    const entry = this.entryOf(userId);
    entry.own = changedLoad(loadAt(entry.own, this.options.now()), amounts);
  }

  /** Forgets a user whose data is deleted. What is still held no longer counts. */
  forget(userId: string): void {
    this.users.delete(userId);
  }

  /**
   * Stores what others must know: what was released, and that this process is alive.
   * @param all also what others need not know yet
   * @throws what the store throws
   */
  flush(all = false): Promise<void> {
    this.flushing ??= this.storeChanges(all).finally(() => (this.flushing = undefined));
    return this.flushing;
  }

  /** Stores everything. @throws what the store throws */
  async close(): Promise<void> {
    await this.flushing?.catch(() => undefined);
    this.stop();
    await this.flush(true);
  }

  private ask(userId: string, entry: Entry, amounts: LoadAmounts): Promise<ReachedLimit | undefined> {
    return new Promise((resolve, reject) => {
      entry.questions.push({ amounts, resolve, reject });
      if (!entry.isAsking) void runDetached(() => this.askAll(userId, entry));
    });
  }

  /** Never rejects. */
  private async askAll(userId: string, entry: Entry): Promise<void> {
    entry.isAsking = true;
    while (entry.questions.length > 0) {
      const questions = entry.questions.splice(0);
      try {
        await this.exchange(userId, entry, questions);
      } catch (error) {
        if (isStoreOutage(error)) this.answerAlone(entry, questions);
        else for (const { reject } of questions) reject(error);
      }
    }
    entry.isAsking = false;
  }

  /** During an outage of the store each process counts for itself. */
  private answerAlone(entry: Entry, questions: readonly Question[]): void {
    for (const { amounts, resolve } of questions) {
      const own = loadAt(entry.own, this.options.now());
      const total = changedLoad(own, amounts);
      const reached = this.reached(total, own, amounts);
      entry.own = reached === undefined ? total : own;
      resolve(reached);
    }
  }

  /** Adds what fits, in order, to what the user does here, and stores that, in one step for all processes. */
  private async exchange(userId: string, entry: Entry, questions: readonly Question[]): Promise<void> {
    const { store, leaseMs, now: clock } = this.options;
    for (let attempt = 0; store !== undefined && attempt < MAX_ATTEMPTS; attempt += 1) {
      const stored = await store.find(userId);
      const now = clock();
      const account = stored?.account ?? { id: userId, processes: [] };
      const others = loadOfOthers(account, this.process, now);
      let load = loadAt(entry.own, now);
      const answers = questions.map(({ amounts }) => {
        const total = changedLoad(load, amounts);
        const reached = this.reached(total, load, amounts, others);
        if (reached === undefined) load = total;
        return reached;
      });
      const changed = withLoad(account, { process: this.process, load, until: now + leaseMs }, now);
      if (!(await store.replace(changed, stored?.revision ?? 0))) continue;
      Object.assign(entry, { shared: load, sharedAt: now, others });
      for (const [at, { amounts, resolve }] of questions.entries()) {
        if (answers[at] === undefined) entry.own = changedLoad(loadAt(entry.own, now), amounts);
        resolve(answers[at]);
      }
      return;
    }
    if (store !== undefined)
      throw new LLMServerError('What a user does could not be counted: too many processes write it at a time.');
  }

  private async storeChanges(all: boolean): Promise<void> {
    const now = this.options.now();
    for (const [userId, entry] of this.users) {
      entry.own = loadAt(entry.own, now);
      entry.shared = loadAt(entry.shared, now);
      const { own, shared, sharedAt, isAsking } = entry;
      const isOver = isSameLoad(own, noLoad(now)) && isSameLoad(shared, own);
      const isDue = (isHeld(own) || isHeld(shared)) && now - sharedAt > this.options.leaseMs / 3;
      if (isAsking) continue;
      if (isOver) this.users.delete(userId);
      else if (isDue || this.isStep(own, shared) || this.isStep(shared, own) || (all && !isSameLoad(own, shared)))
        await this.share(userId, entry);
    }
    if (this.users.size === 0) this.stop();
  }

  /** What is asked meanwhile waits. */
  private async share(userId: string, entry: Entry): Promise<void> {
    entry.isAsking = true;
    try {
      await this.exchange(userId, entry, []);
    } finally {
      void this.askAll(userId, entry);
    }
  }

  private reached(
    total: UserLoad,
    before: UserLoad,
    amounts: LoadAmounts,
    others?: UserLoad,
  ): ReachedLimit | undefined {
    for (const kind of LOAD_KINDS) {
      const besides = others?.[kind] ?? 0;
      if (amounts[kind] !== undefined && total[kind] + besides > this.options.limits[kind])
        return { kind, used: before[kind] + besides };
    }
    return undefined;
  }

  private isStep(total: UserLoad, shared: UserLoad): boolean {
    return LOAD_KINDS.some((kind) => total[kind] - shared[kind] > this.options.limits[kind] / STEPS);
  }

  private stop(): void {
    clearInterval(this.timer);
    this.timer = undefined;
  }

  private entryOf(userId: string): Entry {
    const existing = this.users.get(userId);
    if (existing !== undefined) return existing;
    const now = this.options.now();
    const none = noLoad(now);
    const entry = { own: none, shared: none, sharedAt: now, others: none, questions: [], isAsking: false };
    this.users.set(userId, entry);
    this.timer ??= setInterval(() => {
      runDetached(() => this.flush()).catch((error: unknown) =>
        this.options.logger.warn('What users do in this process could not be shared with the others.', error),
      );
    }, FLUSH_EVERY_MS).unref();
    return entry;
  }
}
