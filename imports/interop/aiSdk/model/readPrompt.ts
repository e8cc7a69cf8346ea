/** Converts a prompt of the AI SDK to items. */
import type {
  LanguageModelV4FilePart,
  LanguageModelV4Message,
  LanguageModelV4Prompt,
  LanguageModelV4TextPart,
  LanguageModelV4ToolApprovalResponsePart,
  SharedV4ProviderOptions,
} from '@ai-sdk/provider';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { HostedItem, InputContent, InputItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import { unreachable } from '../../../business/ai/domain/util/unreachable';
import { AssistantItems } from './AssistantItems';
import type { PromptContext } from './PromptContext';
import { readFile } from './readFile';
import { readToolResult } from './readToolResult';
import { vendorPartOf } from './vendorOptions';

/** @throws UnsupportedFunctionalityError that names a part that has no counterpart */
export function readPrompt(prompt: LanguageModelV4Prompt, context: PromptContext): readonly InputItem[] {
  return prompt.flatMap((message) => readMessage(message, context));
}

function readMessage(message: LanguageModelV4Message, context: PromptContext): readonly InputItem[] {
  const { providerOptions } = message;
  switch (message.role) {
    case 'system':
      return [
        {
          type: 'message',
          role: 'system',
          content: [{ type: 'input_text', text: message.content }],
          ...vendorPartOf(providerOptions),
        },
      ];
    case 'user':
      return [
        {
          type: 'message',
          role: 'user',
          content: message.content.map((part) => readUserPart(part, context)),
          ...vendorPartOf(providerOptions),
        },
      ];
    case 'assistant': {
      const items = new AssistantItems(context);
      for (const part of message.content) items.add(part);
      return withOptionsOnLast(items.all(), providerOptions);
    }
    case 'tool':
      return withOptionsOnLast(
        message.content.map((part) =>
          part.type === 'tool-result' ? readToolResult(part, context) : approvalResponse(part),
        ),
        providerOptions,
      );
    default:
      return unreachable(message);
  }
}

function readUserPart(part: LanguageModelV4TextPart | LanguageModelV4FilePart, context: PromptContext): InputContent {
  switch (part.type) {
    case 'text':
      return { type: 'input_text', text: part.text, ...vendorPartOf(part.providerOptions) };
    case 'file':
      return { ...readFile(part, context.providerId), ...vendorPartOf(part.providerOptions) };
    default:
      return unreachable(part);
  }
}

/** A message's own options, such as a cache breakpoint, apply to its last item. */
function withOptionsOnLast(
  items: readonly InputItem[],
  options: SharedV4ProviderOptions | undefined,
): readonly InputItem[] {
  const { vendor } = vendorPartOf(options);
  const last = items.at(-1);
  if (vendor === undefined || last === undefined) return items;
  return [...items.slice(0, -1), { ...last, vendor: { ...vendor, ...last.vendor } }];
}

/** The approval of a call that the vendor runs. https://platform.openai.com/docs/guides/tools-connectors-mcp */
function approvalResponse(part: LanguageModelV4ToolApprovalResponsePart): HostedItem {
  return omitUndefined({
    type: 'mcp_approval_response',
    approval_request_id: part.approvalId,
    approve: part.approved,
    reason: part.reason,
  });
}
