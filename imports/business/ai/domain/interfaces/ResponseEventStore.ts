/**
 * The streams of background responses, so that clients resume them from any event, in any process; who generates them;
 * and what another process needs to generate them. Kept for 24 hours.
 */

export interface BackgroundRecord {
  /** The response was requested as a stream, so its events are recorded. */
  readonly isStream: boolean;
  /** When its process last confirmed that it is being generated. Milliseconds since the epoch. */
  readonly aliveAt: number;
  /** The process that generates it. Absent once it has ended, and for records of earlier versions. */
  readonly owner?: string;
}

/** A response that some process generates, or died before it had. */
export interface LeasedResponse {
  readonly key: ResponseKey;
  readonly owner: string;
  /** JSON of what was requested. Absent if it is too large to store. */
  readonly request?: string;
  /** Someone has asked for its end. */
  readonly isCancelled: boolean;
  /** How often it was claimed. */
  readonly claims: number;
}

export interface ResponseKey {
  readonly userId: string;
  readonly id: string;
}

export interface ResponseEventStore {
  /**
   * Starts the record of a response.
   * @param work who generates it, and JSON of what was requested, which is stored unless it is too large
   */
  open(key: ResponseKey, isStream: boolean, work?: { readonly owner: string; readonly request: string }): Promise<void>;
  find(key: ResponseKey): Promise<BackgroundRecord | undefined>;
  /**
   * @param first the number of the first frame
   * @param owner the record must belong to. Default: to anyone
   * @returns false, having stored nothing, if the record is gone, is full, has a frame of that number, or another owner
   */
  append(key: ResponseKey, first: number, frames: readonly string[], owner?: string): Promise<boolean>;
  /** The frames after the one of that number, in order. */
  read(key: ResponseKey, after: number): Promise<readonly string[]>;
  /** Confirms that the responses are being generated. @returns those that are to end: cancelled or removed */
  confirm(keys: readonly ResponseKey[]): Promise<readonly ResponseKey[]>;
  /** Asks the process that generates the response to cancel it. */
  cancel(key: ResponseKey): Promise<void>;
  remove(key: ResponseKey): Promise<void>;
  /** Records that have an owner, oldest first. @param except owners whose records are left out */
  leased(limit: number, except?: readonly string[]): Promise<readonly LeasedResponse[]>;
  /** @returns false if the record has another owner by now, or none */
  claim(key: ResponseKey, from: string, to: string): Promise<boolean>;
  /** The response has ended: unless it has another owner, the record has none any more, and no request. */
  release(key: ResponseKey, owner: string): Promise<void>;
}
