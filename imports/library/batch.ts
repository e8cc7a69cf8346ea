/** Many inputs for one agent, each with an outcome of its own. */
import { isLLMError, LLMServerError } from '../business/ai/domain/errors/LLMErrors';
import type { LLMError } from '../business/ai/domain/errors/LLMErrors';
import type { Logger } from '../business/ai/domain/interfaces/Logger';
import type { LLMInput } from '../business/ai/domain/types/LLMTypes';
import type { LLMResponse, Usage } from '../business/ai/domain/types/ResponsesAPITypes';
import { runBatch } from '../business/ai/application/services/batches/runBatch';
import type { BatchOptions } from '../business/ai/application/services/batches/runBatch';
import type { AgentResult } from './AgentResult';

export interface BatchSuccess<Value> {
  readonly ok: true;
  readonly value: Value;
  /** The last response, and the usage of the entire run. */
  readonly response: LLMResponse;
  readonly usage: Usage;
}

export type BatchEntry<Value> = BatchSuccess<Value> | { readonly ok: false; readonly error: LLMError };

/** @param generate answers one input, with a value or with text @returns one entry per input, at its index */
export async function generateBatch<Value>(
  inputs: readonly LLMInput[],
  generate: (input: LLMInput, signal: AbortSignal | undefined) => Promise<AgentResult & { readonly value: Value }>,
  options: BatchOptions,
  logger: Logger,
): Promise<BatchEntry<Value>[]> {
  const results = await runBatch<BatchSuccess<Value>>(
    inputs.map((input) => ({ input })),
    async ({ input = '', signal }) => {
      try {
        const { value, response, usage } = await generate(input, signal);
        return { ok: true, response, value: { ok: true, value, response, usage } };
      } catch (thrown) {
        return isLLMError(thrown) ? thrown : new LLMServerError('The request failed unexpectedly.', { cause: thrown });
      }
    },
    options,
    logger,
  );
  return results.map((result) => (isLLMError(result) ? { ok: false, error: result } : result.value));
}
