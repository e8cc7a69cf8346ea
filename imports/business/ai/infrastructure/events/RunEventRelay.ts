/**
 * Shows the events of runs in every process: what somebody watches elsewhere is published in the store, and what is
 * watched here is read from it. Without watchers, a process with runs reads one small document a second; nothing is
 * written.
 */
import { randomBytes } from 'node:crypto';
import { isStoreOutage } from '../../domain/errors/LLMErrors';
import type { Logger } from '../../domain/interfaces/Logger';
import { MAX_SEGMENTS, PUBLISHED_MS, WATCH_MS } from '../../domain/interfaces/RunEventStore';
import type { EventSegment, ReadPosition, RunEventStore, WatchedUsers } from '../../domain/interfaces/RunEventStore';
import type { AgentEvent } from '../../domain/types/AgentEvents';
import type { RemoteEvents, RunEventLog } from './RunEventLog';
import { RunEventPublisher } from './RunEventPublisher';

export interface RunEventRelayPorts {
  readonly store: RunEventStore;
  readonly log: () => RunEventLog;
  /** Receives the events of other processes, each once, in the order of their runs. */
  readonly onRemote: (event: AgentEvent, userId: string) => void;
  readonly logger: Pick<Logger, 'warn'>;
  /** Does work in the context of nobody's request. */
  readonly detached: <T>(work: () => T) => T;
  /** Milliseconds; see `DEFAULT_RELAY_TIMES`. */
  readonly times?: Partial<RelayTimes> | undefined;
}

export interface RelayTimes {
  /** Between reads of watched events. Ten times as much if the store notifies of changes. */
  readonly read: number;
  /** Between looks for watchers, while there are events. */
  readonly look: number;
  /** Between writes of watched events. */
  readonly publish: number;
  /** How long watching goes on after the last watcher has left, so that one that reconnects misses nothing. */
  readonly linger: number;
  /** How late events may be: more than what looking, publishing and reading take together. */
  readonly lateness: number;
}

export const DEFAULT_RELAY_TIMES: RelayTimes = {
  read: 500,
  look: 1_000,
  publish: 200,
  linger: 30_000,
  lateness: 3_000,
};

const SLOWER_WITH_NOTIFICATIONS = 10;
/** An announcement is repeated three times before it expires. */
const ANNOUNCE_MS = WATCH_MS / 3;
/** In the key of those who watch everyone's runs. No user has the id. */
const EVERYONE = '';

export class RunEventRelay implements RemoteEvents {
  readonly self = randomBytes(4).toString('hex');
  private readonly ports: RunEventRelayPorts;
  private readonly times: RelayTimes;
  private readonly publisher: RunEventPublisher;
  /** Watchers by user, and when the last one left. */
  private readonly watched = new Map<string, { count: number; leftAt: number }>();
  /** By process. */
  private readonly positions = new Map<string, ReadPosition>();
  private timer: NodeJS.Timeout | undefined;
  private reading: Promise<void> | undefined;
  private isReadAgain = false;
  private announcedAt = 0;
  /** Milliseconds since the epoch; 0 while nothing is watched. */
  private readAt = 0;
  private notified: Promise<(() => void) | undefined> | undefined;
  private hasNotifications = false;
  private isClosed = false;

  constructor(ports: RunEventRelayPorts) {
    this.ports = ports;
    this.times = { ...DEFAULT_RELAY_TIMES, ...ports.times };
    this.publisher = new RunEventPublisher({ ...ports, self: this.self, times: this.times });
  }

  get lateness(): number {
    return this.times.lateness;
  }

  /** Call it after each event of this process was logged. @param userId whose run it is of */
  readonly record = (userId: string): void => {
    if (this.isClosed) return;
    this.publisher.noticeEvent(userId);
    this.listen();
  };

  watch(userId: string | undefined): () => void {
    const key = userId ?? EVERYONE;
    const entry = this.watched.get(key) ?? { count: 0, leftAt: 0 };
    if (!this.watched.has(key)) {
      this.watched.set(key, entry);
      this.announcedAt = 0;
      // What others have published before may be missing here.
      this.positions.clear();
    }
    entry.count += 1;
    this.readSoon();
    let isStopped = false;
    return () => {
      if (isStopped) return;
      isStopped = true;
      entry.count -= 1;
      entry.leftAt = Date.now();
    };
  }

  /**
   * Publishes what is watched here, since its watchers leave for other processes, which may not have announced
   * them.
   */
  leave(): void {
    this.publisher.publishAlso(this.watchedUsers());
  }

  /** Publishes what is watched elsewhere. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.timer);
    (await this.notified)?.();
    await this.reading;
    await this.publisher.close();
  }

  private watchedUsers(): WatchedUsers {
    return this.watched.has(EVERYONE) ? 'all' : new Set(this.watched.keys());
  }

  /** Without a pause if one read is in progress. */
  private readSoon(): void {
    if (this.isClosed) return;
    this.listen();
    this.isReadAgain = true;
    if (this.reading !== undefined) return;
    clearTimeout(this.timer);
    this.reading = this.ports
      .detached(() => this.readWatched())
      .finally(() => {
        this.reading = undefined;
        if (this.isClosed || this.watched.size === 0) return;
        const { read } = this.times;
        const pause = this.hasNotifications ? read * SLOWER_WITH_NOTIFICATIONS : read;
        this.timer = setTimeout(() => this.readSoon(), pause);
      });
  }

  /** Never rejects. */
  private async readWatched(): Promise<void> {
    while (this.isReadAgain && !this.isClosed) {
      this.isReadAgain = false;
      this.forgetUnwatched();
      if (this.watched.size === 0) {
        this.readAt = 0;
        return;
      }
      try {
        await this.announce();
        await this.read();
      } catch (error) {
        // The circuit of the store reports outages.
        if (!isStoreOutage(error)) this.ports.logger.warn('Events of other processes could not be read.', error);
      }
    }
  }

  private async announce(): Promise<void> {
    const now = Date.now();
    if (now - this.announcedAt < ANNOUNCE_MS) return;
    this.announcedAt = now;
    try {
      await this.ports.store.watch(this.self, this.watchedUsers());
    } catch (error) {
      this.announcedAt = 0;
      throw error;
    }
  }

  private async read(): Promise<void> {
    const { store, onRemote } = this.ports;
    const log = this.ports.log();
    if (Date.now() - this.readAt > PUBLISHED_MS && this.readAt > 0) log.lose();
    const segments = await store.read(this.watchedUsers(), this.self, this.positions);
    this.readAt = Date.now();
    if (segments.length >= MAX_SEGMENTS) this.isReadAgain = true;
    for (const segment of segments) {
      log.cover(segment);
      this.advance(segment);
    }
    const events = segments.flatMap(({ origin, userId, events }) => events.map((of) => ({ origin, userId, of })));
    for (const { origin, userId, of } of inOrder(events))
      if (log.addRemote(origin, of, userId)) onRemote(of.event, userId);
  }

  private advance({ origin, batch, userId }: EventSegment): void {
    const known = this.positions.get(origin);
    const users = known?.batch === batch ? known.users : [];
    this.positions.set(origin, { batch, users: new Set([...users, userId]) });
  }

  private forgetUnwatched(): void {
    const until = Date.now() - this.times.linger;
    for (const [key, { count, leftAt }] of this.watched) {
      if (count > 0 || leftAt > until) continue;
      this.watched.delete(key);
      this.announcedAt = 0;
      this.ports.log().forget(key === EVERYONE ? undefined : key);
    }
  }

  /** Begins to listen to the store's notifications, if it has any. */
  private listen(): void {
    this.notified ??= this.ports.detached(async () => {
      const { store, logger } = this.ports;
      try {
        const stop = await store.onChange?.((change) => {
          if (change === 'watched') this.publisher.look();
          else if (this.watched.size > 0) this.readSoon();
        });
        this.hasNotifications = stop !== undefined;
        return stop;
      } catch (error) {
        logger.warn('The database does not notify of changes. It is polled instead.', error);
        return undefined;
      }
    });
  }
}

interface Arrived {
  readonly origin: string;
  readonly userId: string;
  readonly of: { readonly number: number; readonly event: AgentEvent };
}

/**
 * By their times, but events of one run, which may have moved from one process to another, by their numbers in
 * it.
 */
function inOrder(events: readonly Arrived[]): readonly Arrived[] {
  const byRun = new Map<string, Arrived[]>();
  for (const arrived of events.toSorted((a, b) => a.of.event.seq - b.of.event.seq)) {
    const { executionId } = arrived.of.event;
    const ofRun = byRun.get(executionId) ?? [];
    ofRun.push(arrived);
    byRun.set(executionId, ofRun);
  }
  return events
    .toSorted((a, b) => a.of.event.at - b.of.event.at || a.of.number - b.of.number)
    .flatMap(({ of }) => byRun.get(of.event.executionId)?.shift() ?? []);
}
