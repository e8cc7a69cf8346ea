/** Plans runs with the defaults of their loop. */
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { Memory } from '../../../domain/interfaces/Memory';
import type { RunLimits } from '../../../domain/types/RunLimits';
import type { RunOptions } from '../../../domain/types/RunOptions';
import type { CompactionSetting } from '../../../domain/types/Compaction';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { PromptSource } from '../../../domain/interfaces/PromptSource';
import type { RunMetadataFields } from '../../../domain/types/RunViews';
import { applyPrompt } from '../shared/applyPrompt';
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
  /** Undefined: no prompt can be named. */
  readonly prompts: PromptSource | undefined;
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
   * The options with the texts of their prompt, whose version the metadata gets, and with what is remembered about the
   * user in their input.
   * @throws LLMInvalidRequestError for an invalid `recall` or `prompt`, and without a memory or prompts; what those
   *   throw
   */
  async completed<O extends RunOptions, M extends { readonly metadata?: RunMetadataFields | undefined }>(
    userId: string,
    given: O,
    recall: RecallOption | undefined,
    metadata: M,
  ): Promise<{ readonly options: Omit<O, 'prompt'>; readonly metadata: M }> {
    const { memory, prompts } = this.options;
    const { options, prompt } = await applyPrompt(prompts, userId, given);
    const input =
      recall === undefined || recall === false
        ? options.input
        : await recallMemories(memory, userId, omitUndefined({ input: options.input, signal: given.signal }), recall);
    return {
      options: { ...options, input },
      metadata:
        prompt === undefined
          ? metadata
          : { ...metadata, metadata: { ...metadata.metadata, prompt: `${prompt.name}@${prompt.version}` } },
    };
  }
}
