/** Starts the loops of runs in this process: of new ones from their plans, of stored ones from where they were. */
import type { RunResult } from '../../../domain/entities/Run';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import { UnreadableRunError } from '../../../domain/errors/UnreadableRunError';
import { restoreError } from '../../../domain/errors/restoreError';
import type { ILLMProvider } from '../../../domain/interfaces/ILLMProvider';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { NewRun, RunInstrumentation, RunObserver } from '../../../domain/interfaces/Instrumentation';
import type { RunMessageStore } from '../../../domain/interfaces/RunMessageStore';
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
import { anthropicClientTools } from '../../../domain/run/clientCall';
import { newRun } from '../../../domain/run/ActiveRun';
import type { ActiveRun, RunRules } from '../../../domain/run/ActiveRun';
import { NO_USAGE } from '../../../domain/entities/Response';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { RunInterpreter } from './RunInterpreter';
import type { RunPublisher } from './RunPublisher';
import type { ToolSet } from '../tools/ToolSet';
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
  readonly messages: RunMessageStore;
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
  launch({ plan, restored, origin = {}, ...init }: RunInit): Promise<RunResult> {
    const { provider, toolExecutor, processor, work, signals, messages, children, live, publisher, isUserRemoved } =
      this.options;
    const { options, limits, stream, compaction, toolSearch } = plan;
    const { executionId, observer } = init;
    const state = restored?.state ?? begunRun(plan, rulesOf(plan, { ...init, origin }));
    const run = new LiveRun(state, origin.parentExecutionId);
    const interpreter = new RunInterpreter({
      run,
      publisher: observer === undefined ? publisher : observedPublisher(publisher, observer),
      provider,
      processor,
      work,
      signals,
      messages,
      children,
      options,
      tools: offeredTools(plan),
      disclosedTools: toolSearch === undefined ? undefined : new DisclosedTools(),
      executor: toolExecutor,
      limits,
      stream,
      compaction,
      isUserRemoved,
      restored,
      origin,
      endError: undefined,
      ...init,
    });
    live.set(executionId, { run, interpreter });
    return interpreter.run();
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
      observer = this.observe(stored);
      // Written also when it has all of them again.
      const isComplete = missingTools.length === 0 && stored.run.missingTools === undefined;
      const origin = stored.run;
      const about = {
        executionId,
        userId,
        journal,
        origin,
        ...progress,
        missingTools: isComplete ? undefined : missingTools,
      };
      return this.launch({
        ...about,
        plan,
        observer,
        returnsEarly: false,
        restored: restoreRun(stored, rulesOf(plan, about)),
        endError: planError ?? recordedError ?? endError ?? endOfChanged(hasBegun(stored.run) ? changes : []),
      });
    } catch (thrown) {
      observer?.refused(thrown);
      throw new UnreadableRunError(executionId, thrown);
    }
  }
}

/** The tools of the plan and, if some are left out of requests, the one that finds them. */
function offeredTools({ tools, toolSearch, options }: PlannedRun): ToolSet {
  return toolSearch === undefined ? tools : withToolSearch(tools, toolSearch, options.tool_choice);
}

/** A run may continue a conversation that an earlier one has compacted. */
function begunRun({ options: { input }, compaction }: PlannedRun, rules: RunRules): ActiveRun {
  const earlier = compaction === false ? undefined : compaction.from;
  const isKept = earlier !== undefined && earlier.length <= input.length;
  return { ...newRun(rules, input, { usage: NO_USAGE }), compaction: isKept ? earlier : undefined };
}

function rulesOf(
  plan: PlannedRun,
  {
    executionId,
    userId,
    journal,
    changedTools,
    origin: { parentExecutionId, parentCallId } = {},
  }: Pick<RunInit, 'executionId' | 'userId' | 'journal' | 'changedTools' | 'origin'>,
): RunRules {
  const { options, limits, durability } = plan;
  const tools = offeredTools(plan);
  return {
    executionId,
    userId,
    model: options.model,
    inputLength: options.input.length,
    limits,
    tools: tools.definitions,
    clientTools: anthropicClientTools(tools.tools),
    missingTools: tools.missing,
    isStored: journal !== undefined,
    durability,
    description: omitUndefined({ ...journal?.metadata, parentExecutionId, parentCallId, changedTools }),
  };
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
