/** Reads the runs that wait for a worker, for people. */
import type { QueuedRunView } from '../types/QueueViews';

export interface QueuedRunReader {
  /** In the order in which they start. @param userId lists only this user's */
  waiting(limit: number, userId?: string): Promise<{ readonly runs: readonly QueuedRunView[]; readonly total: number }>;
}
