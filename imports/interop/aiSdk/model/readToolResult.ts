/** Converts results of tools, as the AI SDK's prompts hold them, to items. */
import type { LanguageModelV4ToolResultOutput, LanguageModelV4ToolResultPart } from '@ai-sdk/provider';
import { ToolCallState } from '../../../business/ai/domain/entities/Tool';
import type { FunctionCallOutputItem, InputContent } from '../../../business/ai/domain/types/ResponsesAPITypes';
import { unreachable } from '../../../business/ai/domain/util/unreachable';
import { unsupportedFunctionality } from './aiSdkErrors';
import { fromMetadata } from './carriedItem';
import type { PromptContext } from './PromptContext';
import { readFile } from './readFile';
import { vendorPartOf } from './vendorOptions';

/** @throws UnsupportedFunctionalityError for a custom part without content */
export function readToolResult(part: LanguageModelV4ToolResultPart, context: PromptContext): FunctionCallOutputItem {
  return {
    type: 'function_call_output',
    call_id: part.toolCallId,
    name: part.toolName,
    ...outputOf(part.output, context),
    ...vendorPartOf(part.providerOptions),
  };
}

function outputOf(
  output: LanguageModelV4ToolResultOutput,
  context: PromptContext,
): Pick<FunctionCallOutputItem, 'output' | 'state'> {
  switch (output.type) {
    case 'text':
      return { output: output.value };
    case 'json':
      return { output: JSON.stringify(output.value) };
    case 'error-text':
      return { output: output.value, state: ToolCallState.FAILED };
    case 'error-json':
      return { output: JSON.stringify(output.value), state: ToolCallState.FAILED };
    case 'execution-denied':
      return { output: output.reason ?? 'The user denied this tool call.', state: ToolCallState.FAILED };
    case 'content':
      return { output: output.value.map((part) => outputPart(part, context)) };
    default:
      return unreachable(output);
  }
}

type OutputPart = Extract<LanguageModelV4ToolResultOutput, { readonly type: 'content' }>['value'][number];

function outputPart(part: OutputPart, context: PromptContext): InputContent {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text, ...vendorPartOf(part.providerOptions) };
    case 'file':
      return { ...readFile(part, context.providerId), ...vendorPartOf(part.providerOptions) };
    case 'custom': {
      const carried = fromMetadata(part.providerOptions).part;
      if (typeof carried?.type === 'string') return carried as unknown as InputContent;
      throw unsupportedFunctionality(
        'tool result content of the type "custom"',
        'A custom part of a tool result needs the content part to send in "providerOptions.bolide.part".',
      );
    }
    default:
      return unreachable(part);
  }
}
