/** The runs that one request leads to, such as a repair of its answer, and what they cost together. */
import { addUsage, NO_USAGE } from '../../domain/entities/Response';
import { runOf } from '../../domain/entities/Run';
import type { RunResult } from '../../domain/entities/Run';
import { ConflictError } from '../../domain/errors/LLMErrors';
import type { Item, Usage } from '../../domain/types/ResponsesAPITypes';
import type { AgenticLoop, ExecuteOptions } from '../services/AgenticLoop';

type Loop = Pick<AgenticLoop, 'start' | 'waitForResult'>;

/** What a use case runs after authorization. */
export interface AuthorizedRun {
  readonly options: ExecuteOptions & { readonly model: string; readonly input: readonly Item[] };
  /** The cost so far, failed runs included. */
  readonly spent: Readonly<RunCost>;
  /**
   * Executes a run, or returns its stored result if it ran already, before a crash or for the same request. The first
   * run has the request's id.
   */
  readonly execute: (options: ExecuteOptions) => Promise<RunResult>;
}

export interface RunCost {
  usage: Usage;
  /** Model calls. */
  iterations: number;
}

/**
 * The runs of one request. The first has the request's id and the others derive theirs from it, so that they are found
 * again.
 */
export class RequestRuns {
  readonly spent: RunCost = { usage: NO_USAGE, iterations: 0 };
  private count = 0;
  private readonly userId: string;
  private readonly executionId: string;
  private readonly first: (options: ExecuteOptions) => Promise<RunResult>;
  private readonly loop: Loop;

  constructor(userId: string, executionId: string, first: (options: ExecuteOptions) => Promise<RunResult>, loop: Loop) {
    this.userId = userId;
    this.executionId = executionId;
    this.first = first;
    this.loop = loop;
  }

  authorized(options: AuthorizedRun['options']): AuthorizedRun {
    return { options, spent: this.spent, execute: (given) => this.execute(given) };
  }

  private async execute(options: ExecuteOptions): Promise<RunResult> {
    this.count += 1;
    try {
      const result = await (this.count === 1
        ? this.first(options)
        : this.repeat(`${this.executionId}-${this.count}`, options));
      add(this.spent, result);
      return result;
    } catch (error) {
      const run = runOf(error);
      if (run !== undefined) add(this.spent, run);
      throw error;
    }
  }

  private async repeat(executionId: string, options: ExecuteOptions): Promise<RunResult> {
    try {
      // What was recalled for the first is in its conversation.
      const started = await this.loop.start(this.userId, { ...options, recall: false, executionId });
      return await started.done;
    } catch (error) {
      if (!(error instanceof ConflictError)) throw error;
      return this.loop.waitForResult(executionId, options.signal);
    }
  }
}

function add(spent: RunCost, { usage, iterations }: Readonly<RunCost>): void {
  spent.usage = addUsage(spent.usage, usage);
  spent.iterations += iterations;
}
