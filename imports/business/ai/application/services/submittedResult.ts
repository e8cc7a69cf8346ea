/** A result from outside as it can be written down, so that it is the same in whichever process the run is. */
import { ToolError } from '../../domain/errors/LLMErrors';
import type { ExternalResult } from './ToolProcessor';
import { serializeToolResult } from './tools/toolResult';

/** What can't be said in JSON is a failure of the call, as it is when a tool returns it. */
export function toStorableResult(result: ExternalResult): ExternalResult {
  if ('error' in result) return { error: result.error };
  if (typeof result.output === 'string') return { output: result.output };
  try {
    return { output: JSON.parse(serializeToolResult(result.output, Infinity)) as unknown };
  } catch (error) {
    if (!(error instanceof ToolError)) throw error;
    return { error: error.message };
  }
}
