/** Starts the loops of runs in this process: of new ones from their plans, of stored ones from where they were. */
import type { RunResult } from '../../../domain/entities/Run';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { UnreadableRunError } from '../../../domain/errors/UnreadableRunError';
import { restoreError } from '../../../domain/errors/restoreError';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { ToolProcessor } from '../ToolProcessor';
import type { ClaimedRun } from './durable/DurableRuns';
import { restoreRun } from './durable/restoreRun';
import { endOfChanged, hasBegun, toolChanges, toolProgress } from './durable/toolChanges';
import { LiveRun } from './LiveRun';
import { readStoredPlan } from './planRun';
import type { PlannedRun } from './planRun';
import type { RunContext } from './RunContext';
import { RunLoop } from './RunLoop';
import type { RunPublisher } from './RunPublisher';
import type { WorkInProgress } from './WorkInProgress';
import type { RunRegistry } from './RunRegistry';

export interface RunLauncherOptions {
  readonly provider: ILLMProvider;
  readonly toolExecutor: IToolExecutor;
  readonly processor: ToolProcessor;
  readonly work: WorkInProgress;
  /** Receives the runs. */
  readonly live: RunRegistry['live'];
  readonly publisher: RunPublisher;
  /** Absent: users are never removed. */
  readonly isUserRemoved?: RunContext['isUserRemoved'];
}

export interface RunInit
  extends
    Pick<RunContext, 'returnsEarly' | 'journal'>,
    Partial<Pick<RunContext, 'restored' | 'endError' | 'missingTools' | 'changedTools' | 'toolHashes'>> {
  readonly executionId: string;
  readonly userId: string;
  readonly plan: PlannedRun;
}

export class RunLauncher {
  private readonly options: RunLauncherOptions;

  constructor(options: RunLauncherOptions) {
    this.options = options;
  }

  /** @returns settles when the run ends */
  launch({ executionId, userId, plan, restored, ...init }: RunInit): Promise<RunResult> {
    const { provider, processor, work, live, publisher, isUserRemoved } = this.options;
    const { options, tools, limits, stream } = plan;
    const run = new LiveRun({
      id: executionId,
      userId,
      input: options.input,
      publisher,
      ...(restored === undefined ? {} : { restored: restored.state }),
    });
    const loop = new RunLoop({
      run,
      provider,
      processor,
      work,
      options,
      tools,
      limits,
      stream,
      isUserRemoved,
      restored,
      endError: undefined,
      ...init,
    });
    live.set(executionId, { run, loop });
    return loop.run();
  }

  /**
   * @param endError ends the run, unless it was about to end with another error
   * @throws UnreadableRunError for a run that cannot be restored
   */
  launchClaimed({ stored, journal }: ClaimedRun, endError?: LLMError): Promise<RunResult> {
    const { executionId, userId, error, response } = stored.run;
    try {
      const { plan, missingTools, error: planError } = readStoredPlan(stored.run, this.options.toolExecutor);
      // A run that was about to end when its owner died ends with the recorded error: its calls may be cancelled
      // already.
      const recordedError = error === undefined ? undefined : restoreError(error.code, error.message, response);
      const changes = toolChanges(stored.run, plan.tools);
      return this.launch({
        executionId,
        userId,
        plan,
        ...toolProgress(stored.run, changes),
        // Written also when it has all of them again.
        missingTools: missingTools.length === 0 && stored.run.missingTools === undefined ? undefined : missingTools,
        returnsEarly: false,
        journal,
        restored: restoreRun(stored),
        endError: planError ?? recordedError ?? endError ?? endOfChanged(hasBegun(stored.run) ? changes : []),
      });
    } catch (thrown) {
      throw new UnreadableRunError(executionId, thrown);
    }
  }
}
