/** Builds a run's plan from its caller's options, or from a stored run; and turns a plan into its stored form. */
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { Tool } from '../../../domain/entities/Tool';
import { isLLMError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { GenerateOptions, LooseTool, NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { RunPlan, RunRecord } from '../../../domain/types/RunRecords';
import type { RunLimits } from '../../../domain/types/RunLimits';
import { adoptItem, normalizeOptions } from '../ContentNormalizer';
import { resolveTools, ToolSet } from '../tools/ToolSet';
import { limitsOf } from './runLimits';

export interface RunOptions extends Omit<GenerateOptions, 'tools'>, Partial<RunLimits> {
  /** Names of the executor's tools, or definitions. */
  readonly tools?: readonly (string | LooseTool)[];
  /** Streams the model's responses and emits `llm:delta` events. Default false. */
  readonly stream?: boolean;
}

export interface PlannedRun {
  readonly options: NormalizedOptions;
  readonly tools: ToolSet;
  readonly limits: RunLimits;
  readonly stream: boolean;
}

/** @throws LLMInvalidRequestError */
export function planRun(
  { tools: requestedTools = [], stream = false, ...fields }: RunOptions,
  executor: IToolExecutor,
  defaultLimits: RunLimits,
): PlannedRun {
  const limits = limitsOf(fields, defaultLimits);
  const tools = resolveTools(requestedTools, executor);
  const options = normalizeOptions({
    ...withoutLimits(fields),
    ...(tools.tools.length === 0 ? {} : { tools: tools.tools }),
  });
  return { options, tools, limits, stream };
}

/** The plan as JSON. Tools that were requested by name are stored as names, others as definitions. */
export function toStoredPlan(
  { options, tools, limits, stream }: PlannedRun,
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
    onCache,
    onRateLimits,
    onAnnotation,
    ...storedOptions
  } = options;
  return {
    options: storedOptions,
    tools: tools.tools.map((tool, index) =>
      typeof requestedTools[index] === 'string' && isFunctionTool(tool) ? tool.name : withoutFunctions(tool),
    ),
    limits,
    stream,
  };
}

/** @returns `error` if the executor of this process lacks one of the plan's tools, so that the run cannot continue */
export function readStoredPlan(
  { plan, input }: Pick<RunRecord, 'plan' | 'input'>,
  executor: IToolExecutor,
): { readonly plan: PlannedRun; readonly error?: LLMError } {
  const { limits, stream } = plan;
  const options = { ...plan.options, input: input.map((item) => adoptItem(item)) };
  try {
    const tools = resolveTools(plan.tools, executor);
    return {
      plan: { options: tools.tools.length === 0 ? options : { ...options, tools: tools.tools }, tools, limits, stream },
    };
  } catch (error) {
    if (!isLLMError(error)) throw error;
    return { plan: { options, tools: new ToolSet([]), limits, stream }, error };
  }
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
}: Omit<RunOptions, 'tools' | 'stream'>): Record<string, unknown> {
  return fields;
}
