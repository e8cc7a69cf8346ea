/** Reads a Responses request, with the stored chain before it, as a conversation. */
import { asArray, asObject, asString, isObject, objectsIn } from '../../json';
import { readSignedToken } from '../../signatures';
import { omitUndefined } from '../../../business/ai/domain/util/omitUndefined';
import type { JsonObject, VendorName } from '../../../business/ai/domain/types/VendorTypes';
import type { Conversation, ToolChoice, ToolDefinition, Turn } from '../../model/Conversation';
import type { WireRequest } from '../WireSimulator';
import { contentText, inputItems, responsesBody, outputFormat } from './responsesBody';
import type { Item, ResponsesBody } from './responsesBody';
import { ENCRYPTED_CONTENT_PREFIX } from './writeResponses';

export function readResponses({ vendor, model, body: raw, archive }: WireRequest): Conversation {
  const body = responsesBody(raw);
  const items = [
    ...(archive.before(vendor, body) as readonly Item[]),
    ...inputItems(body).map((item) => archive.resolve(vendor, item)),
  ];
  const schema = outputSchemaOf(body);
  const systemTexts = items
    .filter((item) => item.role === 'system' || item.role === 'developer')
    .map((item) => contentText(item.content));
  return omitUndefined({
    vendor,
    wire: 'responses',
    model,
    instructions: [body.instructions ?? '', ...systemTexts].filter((text) => text !== '').join('\n'),
    turns: turnsOf(items, vendor),
    tools: [...(body.tools ?? []), ...items.flatMap(toolsLoadedBy)].flatMap((tool) =>
      tool.type === 'namespace'
        ? objectsIn(tool.tools).flatMap((member) => functionsOf(member, asString(tool.name)))
        : functionsOf(tool),
    ),
    toolChoice: toolChoiceOf(body),
    allowsParallelCalls: body.parallel_tool_calls !== false,
    wantsReasoning: body.reasoning !== undefined && body.reasoning !== null && body.reasoning.effort !== 'none',
    outputSchema: schema,
    maxOutputTokens: typeof body.max_output_tokens === 'number' ? body.max_output_tokens : undefined,
  });
}

/** https://developers.openai.com/api/docs/guides/tools-tool-search */
function toolsLoadedBy({ type, tools }: Item): readonly JsonObject[] {
  return type === 'additional_tools' || type === 'tool_search_output' ? objectsIn(asArray(tools)) : [];
}

function functionsOf(tool: JsonObject, namespace?: string): readonly ToolDefinition[] {
  if (tool.type !== 'function') return [];
  return [
    omitUndefined({
      name: asString(tool.name),
      namespace,
      description: asString(tool.description),
      parameters: asObject(tool.parameters),
      async: tool.async === true,
    }),
  ];
}

function turnsOf(items: readonly Item[], vendor: VendorName): readonly Turn[] {
  const names = new Map(
    items.flatMap((item) =>
      item.call_id !== undefined && item.name !== undefined ? [[item.call_id, item.name] as const] : [],
    ),
  );
  return items.flatMap((item): Turn[] => {
    switch (item.type) {
      case undefined:
      case 'message': {
        const text = contentText(item.content);
        if (text === '' || (item.role !== 'user' && item.role !== 'assistant')) return [];
        return [{ type: item.role, text }];
      }
      case 'function_call':
      case 'custom_tool_call':
        return [
          {
            type: 'call',
            id: item.call_id ?? '',
            name: item.name ?? '',
            arguments: item.arguments ?? item.input ?? '',
          },
        ];
      case 'function_call_output':
      case 'custom_tool_call_output': {
        const callId = item.call_id ?? '';
        return [
          {
            type: 'result',
            callId,
            name: names.get(callId) ?? 'the tool',
            text: contentText(item.output),
            failed: false,
          },
        ];
      }
      case 'compaction': {
        const summary = summaryIn(vendor, item.encrypted_content);
        return summary === undefined ? [] : [{ type: 'user', text: summary }];
      }
      default:
        return [];
    }
  });
}

/** @returns undefined for what this vendor did not encrypt */
function summaryIn(vendor: VendorName, encrypted: Item['encrypted_content']): string | undefined {
  if (typeof encrypted !== 'string' || !encrypted.startsWith(ENCRYPTED_CONTENT_PREFIX)) return undefined;
  return asString(asObject(readSignedToken(vendor, encrypted.slice(ENCRYPTED_CONTENT_PREFIX.length))).summary);
}

function toolChoiceOf({ tool_choice: choice }: ResponsesBody): ToolChoice {
  if (choice === 'none' || choice === 'required') return { mode: choice };
  if (!isObject(choice)) return { mode: 'auto' };
  if (choice.type === 'function') return { mode: 'required', names: [asString(choice.name)] };
  if (choice.type !== 'allowed_tools') return { mode: 'auto' };
  return {
    mode: choice.mode === 'required' ? 'required' : 'auto',
    names: objectsIn(asArray(choice.tools)).map((tool) => asString(tool.name)),
  };
}

function outputSchemaOf(body: ResponsesBody): Conversation['outputSchema'] {
  const format = outputFormat(body);
  if (format.type === 'json_object') return {};
  return format.type === 'json_schema' ? asObject(format.schema) : undefined;
}
