/** How the simulated vendors work on batches. */
export type BatchedOutcome = 'answered' | 'errored' | 'expired';

export interface BatchBehaviour {
  /** How often a batch is still in progress when it is read. Default 0: it has ended when it is read first. */
  readonly readsInProgress?: number;
  /** What becomes of a request, by the id that its client gave it. Default: it is answered. */
  readonly outcomeOf?: (customId: string, index: number) => BatchedOutcome;
  /** Why the vendor rejects a batch as a whole. Default: it does not. */
  readonly rejects?: string;
}
