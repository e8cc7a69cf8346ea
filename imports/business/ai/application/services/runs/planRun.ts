/** Builds a run's plan from its caller's options, or from a stored run; and turns a plan into its stored form. */
import { isExternalTool, isFunctionTool } from '../../../domain/entities/Tool';
import type { Tool } from '../../../domain/entities/Tool';
import { isLLMError, LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import type { CompactionSetting } from '../../../domain/types/Compaction';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { RunOptions } from '../../../domain/types/RunOptions';
import { RUN_DURABILITIES } from '../../../domain/types/RunRecords';
import type { RunDurability, RunPlan, RunRecord, RunRequest } from '../../../domain/types/RunRecords';
import type { RunLimits } from '../../../domain/types/RunLimits';
import type { ToolSearchPlan } from '../../../domain/types/ToolSearch';
import { adoptItem, normalizeOptions } from '../ContentNormalizer';
import { compactionOf, DEFAULT_COMPACTION } from './compaction/compactionOptions';
import { hasTool } from './durable/ToolAvailability';
import { isMcpApproval, withMcpApproval } from '../tools/mcpApproval';
import { toolHashes } from '../tools/toolChanges';
import { resolveTools, ToolSet } from '../tools/ToolSet';
import { limitsOf } from '../../../domain/run/runLimits';
import { planToolSearch, toolSearchOf } from './toolSearch/planToolSearch';

export interface PlannedRun {
  readonly options: NormalizedOptions;
  readonly tools: ToolSet;
  readonly limits: RunLimits;
  readonly stream: boolean;
  readonly compaction: CompactionSetting;
  readonly durability: RunDurability;
  /** Undefined: the model is given all definitions. */
  readonly toolSearch: ToolSearchPlan | undefined;
}

/** @throws LLMInvalidRequestError */
export function planRun(
  {
    tools: requestedTools = [],
    stream = false,
    compaction: requestedCompaction,
    durability = 'step',
    toolSearch: requestedToolSearch,
    ...fields
  }: RunOptions,
  executor: IToolExecutor,
  defaultLimits: RunLimits,
  defaultCompaction?: CompactionSetting,
): PlannedRun {
  if (!RUN_DURABILITIES.includes(durability))
    throw new LLMInvalidRequestError(`"durability" must be one of ${RUN_DURABILITIES.join(', ')}.`, {
      path: 'durability',
    });
  if (fields.conversation !== undefined)
    throw new LLMInvalidRequestError(
      'The turns of a run have all of their history, so it cannot be in a "conversation".',
      {
        path: 'conversation',
      },
    );
  if (fields.compact !== undefined)
    throw new LLMInvalidRequestError('A run answers its input. Its history is compacted as "compaction" says.', {
      path: 'compact',
    });
  const limits = limitsOf(fields, defaultLimits);
  const compaction = compactionOf(requestedCompaction, defaultCompaction);
  const tools = withMcpApproval(resolveTools(requestedTools, executor));
  const options = normalizeOptions({
    ...withoutLimits(fields),
    ...(tools.tools.length === 0 ? {} : { tools: tools.tools }),
  });
  const toolSearch = planToolSearch(tools, options.tool_choice, toolSearchOf(requestedToolSearch), executor);
  return { options, tools, limits, stream, compaction, durability, toolSearch };
}

/** The plan as JSON. Tools that were requested by name are stored as names, others as definitions. */
export function toStoredPlan(
  { options, tools, limits, stream, compaction, durability, toolSearch }: PlannedRun,
  requestedTools: RunOptions['tools'] = [],
): RunPlan {
  const {
    input,
    tools: _tools,
    signal,
    onAttempt,
    onHead,
    onRetry,
    onExchange,
    batch,
    backgroundTurn,
    hostedMcp,
    findableTools,
    onCache,
    onRateLimits,
    onAnnotation,
    ...storedOptions
  } = options;
  const storedTools = tools.tools.flatMap((tool, index) => {
    if (isMcpApproval(tool)) return [];
    return typeof requestedTools[index] === 'string' && isFunctionTool(tool) ? tool.name : withoutFunctions(tool);
  });
  return omitUndefined({
    options: storedOptions,
    tools: storedTools,
    ...toolHashes(storedTools, tools),
    limits,
    stream,
    compaction: compaction === DEFAULT_COMPACTION ? undefined : compaction,
    durability: durability === 'step' ? undefined : durability,
    toolSearch,
  });
}

/** The tools of a plan that the processes which continue its run must have, by name: those of the server. */
export function neededTools(
  { tools }: Pick<RunPlan, 'tools'>,
  executor: IToolExecutor,
): Pick<RunRequest, 'neededTools'> {
  const names = tools.flatMap((tool) => serverToolName(tool) ?? []).filter((name) => hasTool(executor, name));
  return names.length === 0 ? {} : { neededTools: names };
}

/** @returns undefined for a tool of the vendor, and for one whose results the caller supplies */
function serverToolName(tool: RunPlan['tools'][number]): string | undefined {
  if (typeof tool === 'string') return tool;
  return isFunctionTool(tool) && !isExternalTool(tool) ? tool.name : undefined;
}

/**
 * Tools that the executor of this process lacks are left out, and calls of them fail.
 * @returns `error` if one of the others is invalid, so that the run cannot continue
 */
export function readStoredPlan(
  { plan, input, neededTools: needed = [] }: Pick<RunRecord, 'plan' | 'input' | 'neededTools'>,
  executor: IToolExecutor,
): { readonly plan: PlannedRun; readonly missingTools: readonly string[]; readonly error?: LLMError } {
  const { limits, stream, compaction = DEFAULT_COMPACTION, durability = 'step', toolSearch } = plan;
  const others = { limits, stream, compaction, durability, toolSearch };
  const isMissing = (tool: RunPlan['tools'][number]): boolean => {
    const name = serverToolName(tool);
    // What no process ever had fails like any call of an unknown tool.
    const isNeeded = name !== undefined && (typeof tool === 'string' || needed.includes(name));
    return isNeeded && !hasTool(executor, name);
  };
  const missingTools = plan.tools.filter(isMissing).flatMap((tool) => serverToolName(tool) ?? []);
  const left = plan.tools.filter((tool) => !isMissing(tool));
  const stored = { ...plan.options, input: input.map((item) => adoptItem(item)) };
  const options = missingTools.length === 0 ? stored : withoutMissing(stored, missingTools, left.length === 0);
  try {
    const tools = withMcpApproval(resolveTools(left, executor, missingTools));
    const offered = tools.tools.length === 0 ? options : { ...options, tools: tools.tools };
    return { plan: { ...others, options: offered, tools }, missingTools };
  } catch (error) {
    if (!isLLMError(error)) throw error;
    return { plan: { ...others, options, tools: new ToolSet([]) }, missingTools, error };
  }
}

/** A model that had to call a tool which is gone may do as it likes. */
function withoutMissing(
  { tool_choice, ...options }: NormalizedOptions,
  missing: readonly string[],
  isNoneLeft: boolean,
): NormalizedOptions {
  if (tool_choice === undefined || isNoneLeft) return options;
  if (typeof tool_choice === 'string') return { ...options, tool_choice };
  const isLeft = ({ name }: { readonly name?: string }): boolean => name === undefined || !missing.includes(name);
  if (!('tools' in tool_choice)) return isLeft(tool_choice) ? { ...options, tool_choice } : options;
  const tools = tool_choice.tools.filter(isLeft);
  return tools.length === 0 ? options : { ...options, tool_choice: { ...tool_choice, tools } };
}

/** A function cannot be stored, so a process that continues the run asks for approval of every call. */
function withoutFunctions(tool: Tool): Tool {
  return 'needsApproval' in tool && typeof tool.needsApproval === 'function' ? { ...tool, needsApproval: true } : tool;
}

function withoutLimits({
  maxIterations,
  maxToolErrors,
  maxParallelTools,
  runTimeout,
  budget,
  ...fields
}: Omit<RunOptions, 'tools' | 'stream' | 'compaction' | 'durability' | 'toolSearch'>): Record<string, unknown> {
  return fields;
}
