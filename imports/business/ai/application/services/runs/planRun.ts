/** What a run is to do: read once from what its caller said, or from what was written down of it. */
import { isFunctionTool } from '../../../domain/entities/Tool';
import type { Tool } from '../../../domain/entities/Tool';
import { isLLMError, LLMInvalidRequestError } from '../../../domain/errors/LLMErrors';
import type { LLMError } from '../../../domain/errors/LLMErrors';
import type { IToolExecutor } from '../../../domain/interfaces/IToolExecutor';
import type { GenerateOptions, LooseTool, NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { RunLimits, RunPlan, StoredRun } from '../../../domain/types/RunRecords';
import { adoptItem, normalizeOptions } from '../ContentNormalizer';
import { resolveTools, ToolSet } from '../tools/ToolSet';

export interface RunOptions extends Omit<GenerateOptions, 'tools'>, Partial<RunLimits> {
  /** Names of the executor's tools, or definitions. */
  readonly tools?: readonly (string | LooseTool)[];
  /** Asks the provider for a stream; deltas are told as `llm:delta`. */
  readonly stream?: boolean;
}

export interface PlannedRun {
  readonly options: NormalizedOptions;
  readonly tools: ToolSet;
  readonly limits: RunLimits;
  readonly stream: boolean;
}

export const DEFAULT_LIMITS: RunLimits = {
  maxIterations: 10,
  maxToolErrors: 3,
  maxParallelTools: 8,
  runTimeout: 600_000,
};

/** @throws LLMInvalidRequestError */
export function planRun(
  { tools: wanted = [], stream = false, ...wishes }: RunOptions,
  executor: IToolExecutor,
  fallback: RunLimits,
): PlannedRun {
  const limits = limitsOf(wishes, fallback);
  const tools = resolveTools(wanted, executor);
  const options = normalizeOptions({
    ...generateFields(wishes),
    ...(tools.tools.length === 0 ? {} : { tools: tools.tools }),
  });
  return { options, tools, limits, stream };
}

/** The same as JSON. Tools that were named are found again by their names, others are what their definitions say. */
export function toStoredPlan(
  { options, tools, limits, stream }: PlannedRun,
  wanted: RunOptions['tools'] = [],
): RunPlan {
  const { input, tools: offered, signal, ...rest } = options;
  return {
    options: rest,
    tools: tools.tools.map((tool, index) =>
      typeof wanted[index] === 'string' && isFunctionTool(tool) ? tool.name : withoutFunctions(tool),
    ),
    limits,
    stream,
  };
}

/** The plan, and why it can't be carried out where this process does not have one of its tools. */
export function readStoredPlan(
  { plan, input }: Pick<StoredRun, 'plan' | 'input'>,
  executor: IToolExecutor,
): { readonly plan: PlannedRun; readonly refusal?: LLMError } {
  const { limits, stream } = plan;
  const options = { ...plan.options, input: input.map((item) => adoptItem(item)) };
  try {
    const tools = resolveTools(plan.tools, executor);
    return {
      plan: { options: tools.tools.length === 0 ? options : { ...options, tools: tools.tools }, tools, limits, stream },
    };
  } catch (error) {
    if (!isLLMError(error)) throw error;
    return { plan: { options, tools: new ToolSet([]), limits, stream }, refusal: error };
  }
}

/** A rule that is a function can't be written down: whoever goes on with the run asks about every call. */
function withoutFunctions(tool: Tool): Tool {
  return 'needsApproval' in tool && typeof tool.needsApproval === 'function' ? { ...tool, needsApproval: true } : tool;
}

export function limitsOf(wanted: Partial<RunLimits>, fallback: RunLimits): RunLimits {
  const budget = wanted.budget ?? fallback.budget;
  const limits = {
    maxIterations: wanted.maxIterations ?? fallback.maxIterations,
    maxToolErrors: wanted.maxToolErrors ?? fallback.maxToolErrors,
    maxParallelTools: wanted.maxParallelTools ?? fallback.maxParallelTools,
    runTimeout: wanted.runTimeout ?? fallback.runTimeout,
  };
  for (const [name, value] of Object.entries(limits)) {
    if (!Number.isSafeInteger(value) || value < 1)
      throw new LLMInvalidRequestError(`${name} must be a positive whole number`, { path: name });
  }
  return { ...limits, ...(budget === undefined ? {} : { budget }) };
}

function generateFields({
  maxIterations,
  maxToolErrors,
  maxParallelTools,
  runTimeout,
  budget,
  ...fields
}: Omit<RunOptions, 'tools' | 'stream'>): Record<string, unknown> {
  return fields;
}
