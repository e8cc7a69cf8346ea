/** Who speaks in a run once a call of the tool has completed: another agent, or the one before. */
export type Handoff = AgentHandoff | { readonly isBack: true };

/** The agent that a run goes on with. */
export interface AgentHandoff {
  /** `provider/model`. Absent: the run's. */
  readonly model?: string | undefined;
  readonly instructions?: string | undefined;
  /** The tools that it may call. The run offers them from its beginning. */
  readonly tools: readonly { readonly type: string; readonly name?: string }[];
}
