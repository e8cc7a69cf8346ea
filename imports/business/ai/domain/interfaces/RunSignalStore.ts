/** Signals that were sent to runs, each kept until a call of its run takes it. */

export interface RunSignal {
  /** Unique within its run. A signal that is sent again under the same id is the same signal. */
  readonly signalId: string;
  readonly executionId: string;
  readonly name: string;
  /** JSON text. Absent: the signal carries nothing. */
  readonly payload?: string;
}

export interface RunSignalStore {
  /**
   * Keeps a signal, in the order of arrival.
   * @returns `repeated` if the run was sent a signal with this id before, `full` if it was sent `MAX_SIGNALS`
   */
  add(signal: RunSignal): Promise<'accepted' | 'repeated' | 'full'>;
  /**
   * Gives the oldest signal with this name to a call. Each signal is given to one call, and each call has one: asked
   * again for the same call, by whichever process, it returns the same signal.
   */
  take(executionId: string, name: string, callId: string): Promise<RunSignal | undefined>;
  /** Returns those of the runs that were sent a signal which no call has taken. */
  untakenAmong(executionIds: readonly string[]): Promise<readonly string[]>;
  /** Makes the signal of a call that has settled without it available to others. */
  giveBack(executionId: string, callId: string): Promise<void>;
  /** Drops the signals of runs that are gone. */
  remove(executionIds: readonly string[]): Promise<void>;
}

/** How many signals one run may be sent in all. */
export const MAX_SIGNALS = 1_000;
