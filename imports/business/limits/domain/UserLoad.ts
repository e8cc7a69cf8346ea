/**
 * What a user does: counted in the current minute, or held until it ends, in each process. All functions are pure;
 * times are milliseconds since the epoch.
 */

/** Counted from the start of a minute on. */
export type CountedLoad = 'requests' | 'tokens';
/** Ends with what holds it, or with its process. */
export type HeldLoad = 'calls' | 'connections' | 'messages';
export type LoadKind = CountedLoad | HeldLoad;
export type LoadAmounts = Readonly<Partial<Record<LoadKind, number>>>;

export type UserLoad = Readonly<Record<LoadKind, number>> & {
  /** The start of the minute that `requests` and `tokens` count. */
  readonly minute: number;
};

/** What a user does in one process. */
export interface ProcessLoad {
  readonly process: string;
  readonly load: UserLoad;
  /** When what is held stops counting, unless it is renewed: its process is dead then. */
  readonly until: number;
}

export interface UserAccount {
  /** The user's. */
  readonly id: string;
  readonly processes: readonly ProcessLoad[];
}

export const LOAD_KINDS = ['requests', 'tokens', 'calls', 'connections', 'messages'] as const satisfies LoadKind[];
export const LOAD_MINUTE_MS = 60_000;

export function noLoad(now: number): UserLoad {
  return { minute: minuteOf(now), requests: 0, tokens: 0, calls: 0, connections: 0, messages: 0 };
}

/** The same load later. A clock that lags behind never reopens an earlier minute. */
export function loadAt(load: UserLoad, now: number): UserLoad {
  const minute = minuteOf(now);
  return minute > load.minute ? { ...load, minute, requests: 0, tokens: 0 } : load;
}

/** No count falls below 0: what is taken back may have been counted in an earlier minute, or be forgotten. */
export function changedLoad(load: UserLoad, amounts: LoadAmounts): UserLoad {
  const { minute, requests, tokens, calls, connections, messages } = load;
  return {
    minute,
    requests: Math.max(0, requests + (amounts.requests ?? 0)),
    tokens: Math.max(0, tokens + (amounts.tokens ?? 0)),
    calls: Math.max(0, calls + (amounts.calls ?? 0)),
    connections: Math.max(0, connections + (amounts.connections ?? 0)),
    messages: Math.max(0, messages + (amounts.messages ?? 0)),
  };
}

export function isHeld({ calls, connections, messages }: UserLoad): boolean {
  return calls + connections + messages > 0;
}

export function isSameLoad(first: UserLoad, second: UserLoad): boolean {
  return LOAD_KINDS.every((kind) => first[kind] === second[kind]);
}

/** What the user does in all processes but one. */
export function loadOfOthers({ processes }: UserAccount, process: string, now: number): UserLoad {
  return processes
    .filter((each) => each.process !== process)
    .reduce((sum, { load, until }) => changedLoad(sum, liveLoad(load, until, now)), noLoad(now));
}

/** Replaces the load of one process. Nothing of processes that are gone stays. */
export function withLoad({ id, processes }: UserAccount, changed: ProcessLoad, now: number): UserAccount {
  const others = processes.filter(
    ({ process, load, until }) => process !== changed.process && !isSameLoad(liveLoad(load, until, now), noLoad(now)),
  );
  return { id, processes: [...others, changed] };
}

/** The minute counts even if the process is dead. */
function liveLoad(load: UserLoad, until: number, now: number): UserLoad {
  const { minute, requests, tokens, ...held } = loadAt(load, now);
  return { minute, requests, tokens, ...(until > now ? held : { calls: 0, connections: 0, messages: 0 }) };
}

function minuteOf(now: number): number {
  return Math.floor(now / LOAD_MINUTE_MS) * LOAD_MINUTE_MS;
}
