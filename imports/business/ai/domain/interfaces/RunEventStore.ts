/** Through which processes show each other the events of their runs, while somebody elsewhere watches. */
import type { AgentEvent } from '../types/AgentEvents';

/** Whose runs are watched; `all` for those of everyone. */
export type WatchedUsers = ReadonlySet<string> | 'all';

/** Tells whose runs are watched, without knowing everybody who is. */
export type WatchedBy = Pick<ReadonlySet<string>, 'has'> | 'all';

export interface OriginEvent {
  /** Rises with every event of its process. */
  readonly number: number;
  readonly event: AgentEvent;
}

/** All events of a user's runs in one process with numbers greater than `after`, up to `upTo`. */
export interface EventSegment {
  /** The id of the process. */
  readonly origin: string;
  /** Counts what the process has published. Segments of one number are published together. */
  readonly batch: number;
  readonly userId: string;
  readonly after: number;
  readonly upTo: number;
  readonly events: readonly OriginEvent[];
  /** Except for some, which are not available any more or too large. */
  readonly hasGap?: true;
}

/** Up to where the segments of a process were read. */
export interface ReadPosition {
  readonly batch: number;
  /** Whose segments of that batch were read: there is one for each user, and others may appear later. */
  readonly users: ReadonlySet<string>;
}

export interface RunEventStore {
  /** Segments are removed after a minute or two. */
  publish(segments: readonly EventSegment[]): Promise<void>;
  /**
   * At most `MAX_SEGMENTS` segments of other processes, in the order in which each has published them.
   * @param after by the id of a process, what is known of it. Default: nothing
   */
  read(users: WatchedUsers, self: string, after: ReadonlyMap<string, ReadPosition>): Promise<readonly EventSegment[]>;
  /** Says for 30 seconds whose runs are watched in a process. */
  watch(origin: string, users: WatchedUsers): Promise<void>;
  /** Whose runs are watched in other processes. */
  watched(self: string): Promise<WatchedBy>;
  /**
   * Calls back when something may have been published or is watched, if the store notifies of changes.
   * @returns stops it; undefined if the store does not notify
   */
  onChange?(callback: (change: 'published' | 'watched') => void): Promise<(() => void) | undefined>;
}

/** How long an announcement of `watch` holds, in milliseconds. */
export const WATCH_MS = 30_000;

export const MAX_SEGMENTS = 500;

/** Segments can be read for so long at least, in milliseconds. */
export const PUBLISHED_MS = 60_000;
