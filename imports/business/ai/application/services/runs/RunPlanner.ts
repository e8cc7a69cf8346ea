/** Plans runs with the defaults of their loop. */
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { Memory } from '../../../domain/interfaces/Memory';
import type { RunLimits } from '../../../domain/types/RunLimits';
import type { RunOptions } from '../../../domain/types/RunOptions';
import type { CompactionSetting } from '../../../domain/types/Compaction';
import { planRun } from './planRun';
import type { PlannedRun } from './planRun';
import { recallMemories } from './recallMemories';
import type { RecallOption } from './recallMemories';

export interface RunPlannerOptions {
  readonly toolExecutor: IToolExecutor;
  readonly limits: RunLimits;
  readonly compaction: CompactionSetting;
  /** Undefined: nothing is remembered, so nothing can be recalled. */
  readonly memory: Pick<Memory, 'search'> | undefined;
}

export class RunPlanner {
  private readonly options: RunPlannerOptions;

  constructor(options: RunPlannerOptions) {
    this.options = options;
  }

  /** The run as it is stored and executed. @throws LLMInvalidRequestError */
  plan(options: RunOptions): PlannedRun {
    const { toolExecutor, limits, compaction } = this.options;
    return planRun(options, toolExecutor, limits, compaction);
  }

  /**
   * The options with what is remembered about the user in their input.
   * @throws LLMInvalidRequestError for an invalid `recall`, and without a memory; what the memory throws
   */
  async recalled<O extends RunOptions>(userId: string, options: O, recall: RecallOption | undefined): Promise<O> {
    if (recall === undefined || recall === false) return options;
    return { ...options, input: await recallMemories(this.options.memory, userId, options, recall) };
  }
}
