/** Takes tools of the AI SDK as tools of agents, servers and the tool registry. */
import type { Tool, ToolSet } from 'ai';
import type { BuiltInTool } from '../../../business/ai/domain/entities/Tool';
import type { ToolCallContext } from '../../../business/ai/domain/interfaces/IToolExecutor';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { RegisteredTool } from '../../../business/ai/infrastructure/tools/ToolRegistry';
import { unsupportedFunctionality } from '../model/aiSdkErrors';
import { readProviderTool } from '../model/readTools';
import { vendorPartOf } from '../model/vendorOptions';
import { fromAISDKSchema } from './fromAISDKSchema';
import { toToolResult } from './toToolResult';

export interface FromAISDKToolsOptions {
  /** By the tool's name: the `context` that its functions receive. */
  readonly toolsContext?: Readonly<Record<string, unknown>>;
}

/**
 * ```ts
 * const assistant = agent({ model: 'openai/gpt-5.4-mini', tools: fromAISDKTools({ weather }) });
 * ```
 *
 * Functions get the call's id and signal; `messages` is empty. A tool that yields results reports all but the last as
 * progress. A tool without `execute` is `external`: its result is submitted. `onInputStart` and `onInputAvailable` are
 * called when the call starts, after an approval. There are no deltas, and `deferLoading` and `inputExamples` have no
 * effect.
 * @throws UnsupportedFunctionalityError for a provider-defined tool that Bolide does not have
 */
export function fromAISDKTools(
  tools: ToolSet,
  { toolsContext = {} }: FromAISDKToolsOptions = {},
): (RegisteredTool | BuiltInTool)[] {
  // Boundary: the members of a ToolSet are tools whose types are unknown.
  return Object.entries(tools).map(([name, tool]) => readTool(name, tool as Tool, toolsContext[name]));
}

function readTool(name: string, tool: Tool, toolContext: unknown): RegisteredTool | BuiltInTool {
  if (tool.type === 'provider') {
    if (tool.isProviderExecuted) return readProviderTool({ type: 'provider', id: tool.id, name, args: tool.args });
    throw unsupportedFunctionality(
      `provider-defined tool "${tool.id}"`,
      `The tool "${name}" (${tool.id}) is defined by a provider and run by the application, which is not supported.`,
    );
  }
  // oxlint-disable-next-line typescript/no-deprecated -- existing tools have it
  const { description, needsApproval, strict } = tool;
  const text = typeof description === 'function' ? description({ context: toolContext }) : description;
  return {
    name,
    ...omitUndefined({ description: text }),
    parameters: fromAISDKSchema(tool.inputSchema, name),
    ...omitUndefined({ strict }),
    ...approval(needsApproval, toolContext),
    ...vendorPartOf(tool.providerOptions),
    ...(tool.execute === undefined ? { kind: 'external' as const } : { execute: executor(tool, toolContext) }),
  };
}

function approval(rule: Tool['needsApproval'], context: unknown): Pick<RegisteredTool, 'needsApproval'> {
  if (typeof rule !== 'function') return rule === undefined ? {} : { needsApproval: rule };
  return {
    needsApproval: async (input: unknown, { callId }) => rule(input, { toolCallId: callId, messages: [], context }),
  };
}

function executor(tool: Tool, context: unknown): NonNullable<RegisteredTool['execute']> {
  return async (input: unknown, { callId: toolCallId, signal, progress }: ToolCallContext) => {
    const options = { toolCallId, messages: [], abortSignal: signal, context };
    await tool.onInputStart?.(options);
    await tool.onInputAvailable?.({ input, ...options });
    const output: unknown = await lastOf(tool.execute?.(input, options), signal, (preliminary) => {
      progress(0, typeof preliminary === 'string' ? preliminary : JSON.stringify(preliminary));
    });
    return tool.toModelOutput === undefined
      ? output
      : toToolResult(await tool.toModelOutput({ toolCallId, input, output }));
  };
}

/**
 * The last value of a function that may yield several.
 * @param onPreliminary receives every value that another one follows
 * @throws the signal's reason once it fires, after which the function is asked for no more values
 */
async function lastOf(result: unknown, signal: AbortSignal, onPreliminary: (value: unknown) => void): Promise<unknown> {
  if (!isAsyncIterable(result)) return result;
  let last: unknown;
  let isFirst = true;
  for await (const value of result) {
    signal.throwIfAborted();
    if (!isFirst) onPreliminary(last);
    last = value;
    isFirst = false;
  }
  return last;
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === 'object' && value !== null && Symbol.asyncIterator in value;
}
