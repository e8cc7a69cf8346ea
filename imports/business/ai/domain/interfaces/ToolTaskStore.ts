/** Stores calls of tools that their callers do not wait for, and what has become of them. */

export type ToolTaskState = 'working' | 'completed' | 'failed' | 'cancelled';

/** Times are milliseconds since the epoch. */
export interface ToolTask {
  readonly id: string;
  readonly userId: string;
  readonly tool: string;
  readonly state: ToolTaskState;
  /** The process that runs the tool. */
  readonly owner: string;
  readonly createdAt: number;
  /** The last sign of life, or the end. */
  readonly aliveAt: number;
  /** How far the tool is, as a sentence. */
  readonly note?: string;
  /** The result of a completed task, as JSON. */
  readonly result?: string;
  /** Why it failed, as sentences. */
  readonly error?: string;
}

export type ToolTaskOutcome =
  | { readonly state: 'completed'; readonly result: string }
  | { readonly state: 'failed'; readonly error: string }
  | { readonly state: 'cancelled' };

export interface ToolTaskStore {
  /** No other process uses it. */
  readonly isExclusive: boolean;
  add(task: Pick<ToolTask, 'id' | 'userId' | 'tool' | 'owner'>): Promise<ToolTask>;
  /** @returns undefined also for the task of another user */
  find(userId: string, id: string): Promise<ToolTask | undefined>;
  /**
   * Records that the tools of these tasks are still at work.
   * @param notes by id, of those that have got further
   * @returns the ids of those that have not been ended meanwhile
   */
  confirm(ids: readonly string[], notes: ReadonlyMap<string, string>): Promise<readonly string[]>;
  /**
   * The first outcome counts.
   * @returns whether this is the first
   */
  end(id: string, outcome: ToolTaskOutcome): Promise<boolean>;
}
