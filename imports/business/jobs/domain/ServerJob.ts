/** A job of the server's own code: a run, or several after failures, and a handler that learns of its end. */
export interface ServerJob {
  readonly id: string;
  /** The definition whose handlers learn of the end. */
  readonly name: string;
  readonly userId: string;
  /** What was enqueued, and the run that its definition made of it. */
  readonly work: JobWork;
  /** Counts the runs, from 1. */
  readonly attempt: number;
  /** The run of this attempt. Absent until it is queued. */
  readonly executionId?: string;
  /** How often a handler has thrown. Absent: never. */
  readonly handlerFailures?: number;
}

/** Survives a round trip through JSON. */
export interface JobWork {
  readonly key?: string | undefined;
  readonly data?: unknown;
  /** The arguments of `QueueRunUseCase`, which the domain does not know. */
  readonly request: unknown;
}
