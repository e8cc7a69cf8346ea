/** Ports of the request log: what records calls as they end, and where the entries are stored. */
import type { RequestBodies, RequestEntry } from '../../ai/domain/types/RequestRecords';

export interface RequestLog {
  /** Whether `add` uses the bodies. */
  readonly recordsBodies: boolean;
  /** Takes the entry without waiting. Never throws. */
  add(entry: RequestEntry, bodies?: RequestBodies): void;
}

export interface LoggedCall {
  readonly entry: RequestEntry;
  readonly bodies?: RequestBodies;
}

export interface RequestStore {
  /** Stores all of them, or throws what the database throws. */
  save(calls: readonly LoggedCall[]): Promise<void>;
}
