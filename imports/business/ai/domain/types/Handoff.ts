/** The agent that a run goes on with, once a call that hands over to it has completed. */
export interface Handoff {
  /** `provider/model`. Absent: the run's. */
  readonly model?: string | undefined;
  readonly instructions?: string | undefined;
  /** The tools that it may call. The run offers them from its beginning. */
  readonly tools: readonly { readonly type: string; readonly name?: string }[];
}
