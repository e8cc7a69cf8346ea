/** Time as the Provider system sees it. */
export interface Clock {
  /** Milliseconds since the epoch; may be wrong, may jump. */
  now(): number;
  /** Milliseconds since anything; never goes back. */
  elapsed(): number;
  sleep(milliseconds: number): Promise<void>;
}
