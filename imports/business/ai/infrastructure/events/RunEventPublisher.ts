/** Publishes the events of this process's runs in the store, of the users who are watched in other processes. */
import { isStoreOutage } from '../../domain/errors/LLMErrors';
import type { Logger } from '../../domain/interfaces/Logger';
import type { EventSegment, OriginEvent, RunEventStore, WatchedBy } from '../../domain/interfaces/RunEventStore';
import type { AgentEvent } from '../../domain/types/AgentEvents';
import type { Writable } from '../../domain/types/Writable';
import type { LoggedEvent, RunEventLog } from './RunEventLog';

export interface RunEventPublisherPorts {
  readonly store: RunEventStore;
  /** The id of this process. */
  readonly self: string;
  readonly log: () => RunEventLog;
  readonly logger: Pick<Logger, 'warn'>;
  /** Does work in the context of nobody's request. */
  readonly detached: <T>(work: () => T) => T;
  /** Milliseconds between looks for watchers, and between writes. */
  readonly times: { readonly look: number; readonly publish: number };
}

/** What came before the first look at a new watcher is published, too. UTF-16 code units. */
const EARLIER_CHARACTERS = 512 * 1024;
/** Looks end when there was no event for so many of them. */
const IDLE_LOOKS = 10;
/** UTF-16 code units of a segment, and of the largest event that is published. */
const SEGMENT_CHARACTERS = 1024 * 1024;
const MAX_EVENT_CHARACTERS = 4 * 1024 * 1024;
/** Readers read a batch again until the next one, so that it is small. */
const BATCH_SEGMENTS = 100;

interface Published {
  /** The number up to which events were published. */
  readonly after: number;
  /** Nothing was published yet. */
  readonly isNew: boolean;
}

function isIn(users: WatchedBy, userId: string): boolean {
  return users === 'all' || users.has(userId);
}

const NOBODY: WatchedBy = new Set<string>();

export class RunEventPublisher {
  private readonly ports: RunEventPublisherPorts;
  /** By user, or `undefined` for all. */
  private readonly published = new Map<string | undefined, Published>();
  private watched: WatchedBy = NOBODY;
  /** Watched here, by those who are leaving. */
  private leaving: WatchedBy = NOBODY;
  private batch = 0;
  private lookTimer: NodeJS.Timeout | undefined;
  private quietLooks = 0;
  private flushTimer: NodeJS.Timeout | undefined;
  private work: Promise<void> = Promise.resolve();
  private isClosed = false;

  constructor(ports: RunEventPublisherPorts) {
    this.ports = ports;
  }

  /** @param userId whose run it is of */
  noticeEvent(userId: string): void {
    this.quietLooks = 0;
    if (this.lookTimer === undefined) this.look();
    if (this.published.has(undefined) || this.published.has(userId)) this.flushSoon();
    // Perhaps the first one of its user.
    else if (isIn(this.watched, userId) || isIn(this.leaving, userId)) this.publishFor();
  }

  /** Looks for watchers now. */
  look(): void {
    if (this.isClosed) return;
    clearTimeout(this.lookTimer);
    this.lookTimer = this.ports.detached(() => setTimeout(() => this.lookAgain(), this.ports.times.look));
    this.enqueue(async () => {
      this.watched = await this.ports.store.watched(this.ports.self);
      this.publishFor();
    });
  }

  publishAlso(users: WatchedBy): void {
    this.leaving = users;
    this.publishFor();
  }

  /** Publishes what there is to publish. */
  async close(): Promise<void> {
    this.isClosed = true;
    clearTimeout(this.lookTimer);
    clearTimeout(this.flushTimer);
    this.enqueue(() => this.flush());
    await this.work;
  }

  private lookAgain(): void {
    this.lookTimer = undefined;
    this.quietLooks += 1;
    // The next event begins anew.
    if (this.quietLooks <= IDLE_LOOKS) this.look();
  }

  /** Begins for those who are new, and ends for those who are not watched any more. */
  private publishFor(): void {
    const wanted = new Set<string | undefined>();
    for (const users of [this.watched, this.leaving])
      if (users === 'all') wanted.add(undefined);
      else if (users !== NOBODY)
        for (const userId of this.ports.log().userIds()) if (users.has(userId)) wanted.add(userId);
    // What is published for all is not published again.
    if (wanted.has(undefined)) for (const userId of wanted) if (userId !== undefined) wanted.delete(userId);
    for (const userId of this.published.keys()) if (!wanted.has(userId)) this.published.delete(userId);
    for (const userId of wanted)
      if (!this.published.has(userId))
        this.published.set(userId, {
          after: this.ports.log().latestAfter(EARLIER_CHARACTERS, userId),
          isNew: true,
        });
    if (wanted.size > 0) this.flushSoon();
  }

  private flushSoon(): void {
    if (this.isClosed) return;
    this.flushTimer ??= this.ports.detached(() =>
      setTimeout(() => {
        this.flushTimer = undefined;
        this.enqueue(() => this.flush());
      }, this.ports.times.publish),
    );
  }

  /** One after the other, so that batches appear in their order. */
  private enqueue(task: () => Promise<void>): void {
    this.work = this.work.then(task).catch((error: unknown) => {
      // What was not published is published with the next event. The circuit of the store reports outages.
      if (!isStoreOutage(error)) this.ports.logger.warn('Events could not be published to other processes.', error);
    });
  }

  private async flush(): Promise<void> {
    const { store, log } = this.ports;
    const { last } = log();
    const due = [...this.published].filter(([, { after, isNew }]) => isNew || after < last);
    const byUser = due.flatMap(([userId, { after, isNew }]) => this.segmentsAfter(after, userId, isNew));
    // One of each user at a time, since the segments of a batch appear in any order.
    for (let round = 0; byUser.some((segments) => round < segments.length); round += 1) {
      const segments = byUser.flatMap((of) => of[round] ?? []);
      for (let from = 0; from < segments.length; from += BATCH_SEGMENTS) {
        this.batch += 1;
        const { batch } = this;
        await store.publish(segments.slice(from, from + BATCH_SEGMENTS).map((segment) => ({ ...segment, batch })));
      }
    }
    for (const [userId, entry] of due)
      if (this.published.get(userId) === entry) this.published.set(userId, { after: last, isNew: false });
  }

  private segmentsAfter(after: number, userId: string | undefined, isNew: boolean): readonly (readonly Segment[])[] {
    const log = this.ports.log();
    let start = after;
    let events = log.ownAfter(start, userId);
    const isCut = events === undefined;
    if (events === undefined) {
      start = log.latestAfter(EARLIER_CHARACTERS, userId);
      events = log.ownAfter(start, userId) ?? [];
    }
    const { self: origin } = this.ports;
    // An empty segment tells a client that resumes that it has missed nothing.
    if (events.length === 0 && isNew && userId !== undefined)
      return [[{ origin, userId, after: start, upTo: start, events: [] }]];
    const byUser = new Map<string, LoggedEvent[]>();
    for (const event of events) {
      const own = byUser.get(event.userId) ?? [];
      own.push(event);
      byUser.set(event.userId, own);
    }
    return [...byUser].map(([owner, own]) => toSegments({ origin, userId: owner }, start, own, isCut));
  }
}

type Segment = Omit<EventSegment, 'batch'>;

function toSegments(
  of: Pick<EventSegment, 'origin' | 'userId'>,
  after: number,
  events: readonly LoggedEvent[],
  isCut: boolean,
): readonly Segment[] {
  const segments: (Writable<Omit<Segment, 'events'>> & { readonly events: OriginEvent[]; size: number })[] = [];
  for (const { id, data } of events) {
    let segment = segments.at(-1);
    if (segment === undefined || segment.size + data.length > SEGMENT_CHARACTERS) {
      segment = { ...of, after: segment?.upTo ?? after, upTo: id, events: [], size: 0 };
      if (isCut && segments.length === 0) segment.hasGap = true;
      segments.push(segment);
    }
    segment.upTo = id;
    segment.size += data.length;
    if (data.length > MAX_EVENT_CHARACTERS) segment.hasGap = true;
    // The log holds serialized events.
    else segment.events.push({ number: id, event: JSON.parse(data) as AgentEvent });
  }
  return segments.map(({ size: _size, ...segment }) => segment);
}
