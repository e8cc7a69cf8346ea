/** What the processes of the measurement tell each other. */

/** Milliseconds between looks at the event loop. */
export const LOOK_MS = 5;

/** Milliseconds. */
export interface Delays {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

export interface Reading {
  /** Milliseconds of processor time so far. */
  readonly cpu: number;
  /** Bytes. */
  readonly rss: number;
  readonly heap: number;
  readonly external: number;
  /** The event loop's delay since the beginning, as Node measures it. */
  readonly delay: Delays;
  /** The processor time of the thread in such delays. */
  readonly step: Delays;
}

/** `begin` reads and forgets the delays so far; `collect` reads after a garbage collection. */
export type Question = 'begin' | 'read' | 'collect';

export type ServerMessage =
  | { readonly type: 'ready'; readonly url: string }
  | { readonly type: 'end'; readonly executionId: string; readonly error?: string }
  | { readonly type: 'reading'; readonly reading: Reading };

/** `read` opens a stream with each of the tokens, at the URL with the same index. */
export type ReaderQuestion =
  | { readonly type: 'read'; readonly urls: readonly string[]; readonly tokens: readonly string[] }
  | { readonly type: 'report' };

export interface ReaderReport {
  readonly events: number;
  /** Streams that the server ended because their readers were too slow. */
  readonly resyncs: number;
  /** Streams that ended for any reason. */
  readonly closed: number;
}
