/** Typed values from an agent: its run, its answer validated against a schema and, if need be, a second run. */
import { addUsage, NO_USAGE } from '../business/ai/domain/entities/Response';
import { isLLMError, LLMServerError } from '../business/ai/domain/errors/LLMErrors';
import type { ILLMProvider } from '../business/ai/domain/interfaces/ILLMProvider';
import type { SchemaInput, ValueOf } from '../business/ai/domain/types/Schemas';
import { generateStructured } from '../business/ai/application/services/structured/StructuredOutput';
import { budgetLeft } from '../business/ai/application/usecases/GenerateJSONUseCase';
import { omitUndefined } from '../business/ai/domain/util/omitUndefined';
import type { AgentResult } from './AgentResult';
import { toAgentResult } from './AgentResult';
import type { AgentRunInit } from './AgentRun';

/** The result of the last run, and the usage of all. */
export interface ObjectResult<Value> extends AgentResult {
  readonly value: Value;
}

/**
 * @param provider tells what the model supports
 * @param start starts a run. Default: one without a stream
 * @throws StructuredOutputError if the corrected answer violates the schema, too, or the schema's validation throws;
 *   the error that ended a run. `runOf` returns what was done
 */
export async function generateObject<Schema extends SchemaInput>(
  init: AgentRunInit,
  schema: Schema,
  provider: Pick<ILLMProvider, 'getCapabilities'>,
  start: (init: AgentRunInit) => Promise<AgentResult> = startRun,
): Promise<ObjectResult<ValueOf<Schema>>> {
  const { options } = init;
  let result: AgentResult | undefined;
  const spent = { usage: NO_USAGE, iterations: 0 };
  const generated = generateStructured({
    generate: async (request) => {
      const run = { ...options, ...request, tools: options.tools ?? [], ...budgetLeft(options.budget, spent) };
      const executionId = result === undefined ? options.executionId : `${options.executionId}-2`;
      // The first run's input has what was recalled.
      const again = result === undefined ? {} : { recall: false };
      result = await start({ ...init, options: { ...run, ...again, executionId } });
      spent.usage = addUsage(spent.usage, result.usage);
      spent.iterations += result.iterations;
      return { response: result.response, conversation: result.transcript, usage: result.usage };
    },
    options: omitUndefined({ input: options.input, instructions: options.instructions }),
    schema,
    capabilities: provider.getCapabilities(options.model ?? ''),
  });
  const { value } = await generated.catch((error: unknown) => {
    // The runs have ended before the value was refused.
    if (isLLMError(error) && result !== undefined) error.run ??= { ...result, ...spent };
    throw error;
  });
  if (result === undefined) throw new LLMServerError('The value was generated without a run.', { retryable: false });
  // The schema has validated the value, and its type states what that means.
  return { ...result, ...spent, value: value as ValueOf<Schema> };
}

async function startRun({ loop, userId, options, metadata }: AgentRunInit): Promise<AgentResult> {
  const { done } = await loop.start(userId, options, metadata);
  return toAgentResult(await done);
}
