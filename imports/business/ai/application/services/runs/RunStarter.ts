/** Starts the loops of runs in this process: of new ones from their plans, of stored ones from where they were. */
import type { RunResult } from '../../../domain/entities/Run';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { UnreadableRunError } from '../../../domain/errors/UnreadableRunError';
import { restoreError } from '../../../domain/errors/restoreError';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { NewRun, RunInstrumentation, RunObserver } from '../../../domain/interfaces/Instrumentation';
import type { StoredRun } from '../../../domain/interfaces/RunStore';
import type { ToolProcessor } from '../ToolProcessor';
import type { ChildRuns } from '../tools/ChildRuns';
import type { ClaimedRun } from './durable/DurableRuns';
import { restoreRun } from './durable/restoreRun';
import { endOfChanged, hasBegun, toolChanges, toolProgress } from '../tools/toolChanges';
import { LiveRun } from './LiveRun';
import { readStoredPlan } from './planRun';
import type { PlannedRun } from './planRun';
import type { RunContext } from './RunContext';
import { RunLoop } from './RunLoop';
import type { RunPublisher } from './RunPublisher';
import { DisclosedTools } from './toolSearch/DisclosedTools';
import { withToolSearch } from './toolSearch/searchTool';
import type { RunSignals } from '../tools/signals/RunSignals';
import type { WorkInProgress } from '../tools/WorkInProgress';
import type { RunRegistry } from './RunRegistry';

export interface RunStarterOptions {
  readonly provider: ILLMProvider;
  readonly toolExecutor: IToolExecutor;
  readonly processor: ToolProcessor;
  readonly work: WorkInProgress;
  readonly signals: RunSignals;
  readonly children: ChildRuns;
  /** Receives the runs. */
  readonly live: RunRegistry['live'];
  readonly publisher: RunPublisher;
  /** Absent: runs are not observed. */
  readonly instrumentation?: RunInstrumentation | undefined;
  /** Absent: users are never removed. */
  readonly isUserRemoved?: RunContext['isUserRemoved'];
}

export interface RunInit
  extends
    Pick<RunContext, 'returnsEarly' | 'journal'>,
    Partial<Pick<RunContext, 'restored' | 'endError' | 'missingTools' | 'changedTools' | 'toolHashes' | 'observer'>> {
  readonly executionId: string;
  readonly userId: string;
  readonly plan: PlannedRun;
  /** Default: nothing is known. */
  readonly origin?: RunContext['origin'];
}

export class RunStarter {
  private readonly options: RunStarterOptions;

  constructor(options: RunStarterOptions) {
    this.options = options;
  }

  /** To be called once for each run that begins here. @returns undefined if nobody observes it */
  observe(begun: NewRun | StoredRun): RunObserver | undefined {
    const { instrumentation, provider } = this.options;
    if (instrumentation === undefined) return undefined;
    return instrumentation.beginRun(begun, (model) => provider.routeOf?.(model));
  }

  /** @returns settles when the run ends */
  launch({ executionId, userId, plan, restored, origin = {}, ...init }: RunInit): Promise<RunResult> {
    const { provider, toolExecutor, processor, work, signals, children, live, publisher, isUserRemoved } = this.options;
    const { options, tools, limits, stream, compaction, durability, toolSearch } = plan;
    const { observer } = init;
    const run = new LiveRun({
      id: executionId,
      userId,
      input: options.input,
      parentExecutionId: origin.parentExecutionId,
      publisher: observer === undefined ? publisher : observedPublisher(publisher, observer),
      restored: restored?.state,
    });
    const loop = new RunLoop({
      run,
      provider,
      processor,
      work,
      signals,
      children,
      options,
      tools: toolSearch === undefined ? tools : withToolSearch(tools, toolSearch, options.tool_choice),
      disclosedTools: toolSearch === undefined ? undefined : new DisclosedTools(),
      executor: toolExecutor,
      limits,
      stream,
      compaction,
      durability,
      isUserRemoved,
      restored,
      origin,
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
    let observer: RunObserver | undefined;
    try {
      const { plan, missingTools, error: planError } = readStoredPlan(stored.run, this.options.toolExecutor);
      // A run that was about to end when its owner died ends with the recorded error: its calls may be cancelled
      // already.
      const recordedError = error === undefined ? undefined : restoreError(error.code, error.message, response);
      const changes = toolChanges(stored.run, plan.tools);
      const progress = toolProgress(stored.run, changes);
      const restored = restoreRun(stored);
      observer = this.observe(stored);
      return this.launch({
        executionId,
        userId,
        plan,
        origin: stored.run,
        observer,
        ...progress,
        // Written also when it has all of them again.
        missingTools: missingTools.length === 0 && stored.run.missingTools === undefined ? undefined : missingTools,
        returnsEarly: false,
        journal,
        restored,
        endError: planError ?? recordedError ?? endError ?? endOfChanged(hasBegun(stored.run) ? changes : []),
      });
    } catch (thrown) {
      observer?.refused(thrown);
      throw new UnreadableRunError(executionId, thrown);
    }
  }
}

function observedPublisher(publisher: RunPublisher, observer: RunObserver): RunPublisher {
  return {
    hears: (type) => observer.hears(type) || publisher.hears(type),
    publish: (event) => {
      observer.receive(event);
      publisher.publish(event);
    },
  };
}
