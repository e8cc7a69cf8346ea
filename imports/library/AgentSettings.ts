/** The settings of an agent's runs: for all of them in `agent`, for one in each call. */
import {
  boolean,
  identifier,
  integer,
  invalid,
  numberBetween,
  oneOf,
  optional,
  readObject,
  text,
} from '../business/ai/domain/util/arguments';
import type { ArgumentReader } from '../business/ai/domain/util/arguments';
import type { ExecuteOptions } from '../business/ai/application/services/AgenticLoop';
import type { RecallOption } from '../business/ai/application/services/runs/recallMemories';
import { compactionOf } from '../business/ai/application/services/runs/compaction/compactionOptions';
import { toolSearchOf } from '../business/ai/application/services/runs/toolSearch/planToolSearch';
import { isObject } from '../business/ai/domain/util/json';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { CompactionOptions } from '../business/ai/domain/types/Compaction';
import type { ToolSearchOptions } from '../business/ai/domain/types/ToolSearch';
import type { GenerateOptions, PromptReference, ReasoningEffort } from '../business/ai/domain/types/LLMTypes';
import type { Budget, RunLimits } from '../business/ai/domain/types/RunLimits';
import { readModelName } from './modelName';
import type { ModelName } from './modelName';

export interface AgentSettings
  extends Partial<RunLimits>, Pick<GenerateOptions, 'temperature' | 'stop' | 'metadata' | 'vendor'> {
  /** `provider/model`, or `provider` for its default model. Default: the default provider's default model. */
  readonly model?: ModelName;
  /** The operator's instructions, which the model follows before the input's. */
  readonly instructions?: string;
  /** A prompt that is saved on the `host`, for what the agent and its calls do not set. */
  readonly prompt?: PromptReference;
  readonly topP?: number;
  readonly topK?: number;
  readonly seed?: number;
  /** From -2 to 2, as is `frequencyPenalty`. */
  readonly presencePenalty?: number;
  readonly frequencyPenalty?: number;
  /** Tokens of each response. */
  readonly maxOutputTokens?: number;
  /** How much the model reasons before it answers. */
  readonly reasoning?: ReasoningEffort | NonNullable<GenerateOptions['reasoning']>;
  readonly toolChoice?: NonNullable<GenerateOptions['tool_choice']>;
  readonly parallelToolCalls?: boolean;
  /** Keeps the history within the model's context window. Default: true. */
  readonly compaction?: boolean | CompactionOptions;
  /** Has the model search for tools with `deferLoading`, instead of sending it all definitions. Default: true. */
  readonly toolSearch?: boolean | ToolSearchOptions;
  /**
   * Adds what is remembered about the user, and suits their message, to the input. Needs the agent's `memory`, or a
   * host. Default: true for an agent with a `memory`.
   */
  readonly recall?: RecallOption;
  /** What the vendor is to keep of the prompt. Default: `auto` for agents with tools. */
  readonly promptCache?: NonNullable<GenerateOptions['promptCache']>;
  /** Emits `tool:arguments_delta` while the model writes the arguments of a call. Default: false. */
  readonly streamArguments?: boolean;
  /** Limit for each model call, retries included, in milliseconds. */
  readonly timeout?: number;
  /**
   * When the result settles: `wait` (default) when the model has answered and no call is pending; `return` at the first
   * answer, while the run continues with the calls that are.
   */
  readonly onPending?: 'wait' | 'return';
  /**
   * Whose run it is: budgets, stored runs and stored accounts belong to a user. Required with them; otherwise the
   * default is `DEFAULT_USER_ID`.
   */
  readonly userId?: string;
}

/** The settings of one call, which take precedence over the agent's. */
export interface CallOptions extends AgentSettings {
  /** Cancels the run. */
  readonly signal?: AbortSignal;
  /** Default: a random UUID. */
  readonly executionId?: string;
}

/** The user of calls that name none. */
export const DEFAULT_USER_ID = 'local';

const MAX = 2_147_483_647;
const count = integer(1, Number.MAX_SAFE_INTEGER);

/** Reads what the loop does not check under the same name. */
const READERS = {
  model: readModelName,
  instructions: text(Infinity),
  userId: identifier(128),
  temperature: numberBetween(0, 2),
  topP: numberBetween(0, 1),
  topK: count,
  seed: integer(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  presencePenalty: numberBetween(-2, 2),
  frequencyPenalty: numberBetween(-2, 2),
  maxOutputTokens: count,
  reasoning: readReasoning,
  toolChoice: (value, path) => {
    if (typeof value !== 'string' && !isObject(value)) throw invalid(path, 'must be a mode or an object with a "type"');
    return value;
  },
  parallelToolCalls: boolean,
  stop: (value) => value,
  metadata: (value) => value,
  vendor: (value) => value,
  timeout: numberBetween(1, MAX),
  onPending: oneOf(['wait', 'return']),
  maxIterations: count,
  maxToolErrors: count,
  maxParallelTools: count,
  runTimeout: count,
  budget: readBudget,
  compaction: (value) => compactionOf(value),
  toolSearch: (value) => toolSearchOf(value),
  recall: readRecall,
  promptCache: (value) => value,
  streamArguments: boolean,
  prompt: (value) => value,
} as const satisfies Record<keyof AgentSettings, ArgumentReader<unknown>>;

export const SETTING_NAMES = Object.keys(READERS) as readonly (keyof AgentSettings)[];

/** @throws LLMInvalidRequestError for a field that is unknown or invalid; `path` names it */
export function checkCallOptions(given: unknown, others: readonly string[] = []): asserts given is CallOptions {
  const fields = readObject(given, [...SETTING_NAMES, 'signal', 'executionId', ...others]);
  checkSettings(fields);
  optional(fields, 'executionId', identifier(128));
  const { signal } = fields;
  // Signals of another realm have another class.
  if (signal !== undefined && !(isObject(signal) && typeof signal.addEventListener === 'function'))
    throw invalid('signal', 'must be an AbortSignal');
}

export function checkSettings(fields: Readonly<Record<string, unknown>>): void {
  for (const [name, read] of Object.entries<ArgumentReader<unknown>>(READERS))
    if (fields[name] !== undefined) read(fields[name], name);
}

/** The settings that are set. */
export function settingsOf(options: AgentSettings): AgentSettings {
  return Object.fromEntries(
    SETTING_NAMES.flatMap((name) => (options[name] === undefined ? [] : [[name, options[name]]])),
  );
}

/** The settings in the form of the loop. */
export function toExecuteOptions({
  userId: _,
  topP,
  topK,
  presencePenalty,
  frequencyPenalty,
  maxOutputTokens,
  reasoning,
  toolChoice,
  parallelToolCalls,
  ...settings
}: AgentSettings): Omit<ExecuteOptions, 'input' | 'tools'> {
  return omitUndefined({
    ...settings,
    top_p: topP,
    top_k: topK,
    presence_penalty: presencePenalty,
    frequency_penalty: frequencyPenalty,
    max_output_tokens: maxOutputTokens,
    reasoning: reasoning === undefined ? undefined : typeof reasoning === 'string' ? { effort: reasoning } : reasoning,
    tool_choice: toolChoice,
    parallel_tool_calls: parallelToolCalls,
  });
}

function readRecall(value: unknown, path: string): unknown {
  if (typeof value === 'boolean') return value;
  if (!isObject(value)) throw invalid(path, 'must be true, false, or an object with a "limit"');
  return optional(readObject(value, ['limit'], path), 'limit', integer(1, 20), `${path}.limit`);
}

function readReasoning(value: unknown, path: string): unknown {
  if (typeof value === 'string') return value;
  if (!isObject(value)) throw invalid(path, 'must be an effort, such as "low", or an object with "effort"');
  return readObject(value, ['effort', 'summary'], path);
}

function readBudget(value: unknown, path: string): Budget {
  const fields = readObject(value, ['calls', 'tokens', 'money'], path);
  return {
    ...optional(fields, 'calls', numberBetween(0, Infinity), `${path}.calls`),
    ...optional(fields, 'tokens', numberBetween(0, Infinity), `${path}.tokens`),
    ...optional(fields, 'money', numberBetween(0, Infinity), `${path}.money`),
  };
}
