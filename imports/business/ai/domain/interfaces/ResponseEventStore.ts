/**
 * The streams of background responses, so that clients resume them from any event, in any process, and the sign of life
 * of the process that generates them. Kept for 24 hours.
 */

export interface BackgroundRecord {
  /** The response was requested as a stream, so its events are recorded. */
  readonly isStream: boolean;
  /** When its process last confirmed that it is being generated. Milliseconds since the epoch. */
  readonly aliveAt: number;
}

export interface ResponseKey {
  readonly userId: string;
  readonly id: string;
}

export interface ResponseEventStore {
  /** Starts the record of a response. */
  open(key: ResponseKey, isStream: boolean): Promise<void>;
  find(key: ResponseKey): Promise<BackgroundRecord | undefined>;
  /**
   * @param first the number of the first frame
   * @returns false, having stored nothing, if the record is gone, is full, or has a frame of that number
   */
  append(key: ResponseKey, first: number, frames: readonly string[]): Promise<boolean>;
  /** The frames after the one of that number, in order. */
  read(key: ResponseKey, after: number): Promise<readonly string[]>;
  /** Confirms that the responses are being generated. @returns those that are to end: cancelled or removed */
  confirm(keys: readonly ResponseKey[]): Promise<readonly ResponseKey[]>;
  /** Asks the process that generates the response to cancel it. */
  cancel(key: ResponseKey): Promise<void>;
  remove(key: ResponseKey): Promise<void>;
}
