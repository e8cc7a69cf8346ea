/** The time source of the provider system. */
export interface Clock {
  /** Wall-clock time in milliseconds since the epoch. May be wrong and may jump. */
  now(): number;
  /** Monotonic time in milliseconds, with an arbitrary start. */
  elapsed(): number;
  sleep(milliseconds: number): Promise<void>;
}
