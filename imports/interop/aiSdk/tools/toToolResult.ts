import type { ToolResultPart } from 'ai';
import { ToolError } from '../../../business/ai/domain/errors/LLMErrors';
import { unsupportedFunctionality } from '../model/aiSdkErrors';

/**
 * The result that a tool's `toModelOutput` stands for. Results are text or JSON.
 * @throws ToolError for an error or a denial; UnsupportedFunctionalityError for files
 */
export function toToolResult(output: ToolResultPart['output']): unknown {
  switch (output.type) {
    case 'text':
    case 'json':
      return output.value;
    case 'error-text':
      throw new ToolError('threw', output.value);
    case 'error-json':
      throw new ToolError('threw', JSON.stringify(output.value));
    case 'execution-denied':
      throw new ToolError('rejected', output.reason ?? 'The execution was denied.');
    case 'content':
      return output.value.map(textOf).join('\n');
  }
}

/** Boundary: the AI SDK's union has deprecated members, which are refused like all others. */
function textOf(part: { readonly type: string; readonly text?: unknown }): string {
  if (part.type === 'text') return String(part.text);
  throw unsupportedFunctionality(
    `tool result content of the type "${part.type}"`,
    `The result of a tool consists of text or JSON. "${part.type}" parts are not supported.`,
  );
}
