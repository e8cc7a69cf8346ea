/** Offers tools of Bolide to the AI SDK. */
import { randomUUID } from 'node:crypto';
import type { Schema, Tool, ToolSet } from 'ai';
import type { ToolCallContext } from '../../../business/ai/domain/interfaces/IToolExecutor';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { RegisteredTool } from '../../../business/ai/infrastructure/tools/ToolRegistry';
import { DEFAULT_USER_ID } from '../../../library/AgentSettings';
import { resolveSchema } from '../../../library/resolveSchema';
import { AI_SCHEMA } from './fromAISDKSchema';

export interface ToAISDKToolsOptions {
  /** Whose calls they are. Default: `local`. */
  readonly userId?: string;
  /** Identifies the conversation in the calls' contexts. Default: a random UUID. */
  readonly executionId?: string;
}

/**
 * ```ts
 * const { text } = await generateText({ model, prompt, tools: toAISDKTools([weather]) });
 * ```
 *
 * The AI SDK runs the tools: it waits for every call, whatever `blocking` is, and has no `timeout` but its own.
 * Progress is dropped. External tools have no `execute`.
 * @throws LLMInvalidRequestError for parameters that are no schema
 */
export function toAISDKTools(
  tools: readonly RegisteredTool[],
  { userId = DEFAULT_USER_ID, executionId = randomUUID() }: ToAISDKToolsOptions = {},
): ToolSet {
  return Object.fromEntries(tools.map((tool) => [tool.name, toAISDKTool(tool, { userId, executionId })]));
}

type Caller = Pick<ToolCallContext, 'userId' | 'executionId'>;

function toAISDKTool(tool: RegisteredTool, caller: Caller): Tool {
  const { description, parameters, strict, needsApproval, execute } = tool;
  const fields = {
    ...omitUndefined({ description }),
    ...(typeof strict === 'boolean' ? { strict } : {}),
    inputSchema: toAISDKSchema(parameters ?? { type: 'object', properties: {}, additionalProperties: false }),
    ...omitUndefined({
      needsApproval:
        typeof needsApproval === 'function'
          ? // Called with input that is valid against the schema.
            (input: unknown, { toolCallId }: { readonly toolCallId: string }) =>
              needsApproval(input as never, { ...caller, callId: toolCallId })
          : needsApproval,
    }),
  };
  if (execute === undefined) return { ...fields, outputSchema: toAISDKSchema({}) };
  return {
    ...fields,
    execute: (input: unknown, { toolCallId, abortSignal }) =>
      execute(input as never, {
        ...caller,
        callId: toolCallId,
        idempotencyKey: `${caller.executionId}:${toolCallId}`,
        signal: abortSignal ?? new AbortController().signal,
        progress: () => undefined,
      }),
  };
}

function toAISDKSchema(schema: unknown): Schema {
  const { jsonSchema, validate } = resolveSchema(schema);
  const fields: Pick<Schema, '_type' | 'jsonSchema' | 'validate'> = {
    _type: undefined,
    jsonSchema,
    validate: async (value) => {
      const result = await validate(value);
      if (result.ok) return { success: true, value: result.value };
      const message = result.violations.map((violation) => `${violation.path} ${violation.message}`).join('; ');
      return { success: false, error: new Error(message) };
    },
  };
  // Boundary: the marker's type is a unique symbol of the AI SDK.
  return { ...fields, [AI_SCHEMA]: true } as unknown as Schema;
}
