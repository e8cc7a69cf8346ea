/**
 * Converts the items of tools that a vendor runs: calls and their results become `tool-call` and `tool-result`
 * parts with `providerExecuted`, other items become custom parts. Each part carries its entire item.
 */
import type { LanguageModelV4Content, LanguageModelV4ToolCall, LanguageModelV4ToolResult } from '@ai-sdk/provider';
import { fieldsOf, isObject } from '../../../business/ai/domain/util/json';
import type { HostedItem, OutputItem, VendorItem } from '../../../business/ai/domain/types/ResponsesAPITypes';
import type { JsonObject } from '../../../business/ai/domain/types/VendorTypes';
import { omit, toMetadata } from './carriedItem';

/** Hosted items that hold a call and its result: the built-in tool, and the fields of its arguments. */
const HOSTED_CALLS: Readonly<Record<string, { readonly tool: string; readonly input: readonly string[] }>> = {
  web_search_call: { tool: 'web_search', input: ['action'] },
  file_search_call: { tool: 'file_search', input: ['queries'] },
  code_interpreter_call: { tool: 'code_interpreter', input: ['code', 'container_id'] },
};

/** Anthropic's server tools by name: https://platform.claude.com/docs/en/agents-and-tools/tool-use/server-tools */
const TOOL_OF_ANTHROPIC_NAME: Readonly<Record<string, string>> = {
  web_search: 'web_search',
  web_fetch: 'web_fetch',
  code_execution: 'code_interpreter',
  bash_code_execution: 'code_interpreter',
  text_editor_code_execution: 'code_interpreter',
};

/** Content that is neither text nor reasoning, which streams write as it is. */
export type OtherContent = Exclude<LanguageModelV4Content, { readonly type: 'text' | 'reasoning' }>;

type Named = Pick<LanguageModelV4ToolCall, 'toolCallId' | 'toolName' | 'dynamic'>;

export class ServerToolWriter {
  private readonly namesOfBuiltIns: ReadonlyMap<string, string>;
  /** Calls of this response that a later item has the result of, by id. */
  private readonly calls = new Map<string, Named>();
  /** Gemini's results name no call: each belongs to the call before it. */
  private lastCall: Named | undefined;

  constructor(namesOfBuiltIns: ReadonlyMap<string, string>) {
    this.namesOfBuiltIns = namesOfBuiltIns;
  }

  write(item: OutputItem): OtherContent[] {
    const parts = item.type === 'vendor_item' ? this.vendorItem(item) : this.hostedItem(item as HostedItem);
    return parts ?? [{ type: 'custom', kind: kindOf(item), providerMetadata: toMetadata({ item: omit(item, []) }) }];
  }

  private hostedItem(item: HostedItem): OtherContent[] | undefined {
    const { id } = item;
    if (typeof id !== 'string') return undefined;
    const hosted = HOSTED_CALLS[item.type];
    if (hosted !== undefined) {
      const named = this.name(id, hosted.tool);
      const input = Object.fromEntries(
        hosted.input.flatMap((field) => (item[field] === undefined ? [] : [[field, item[field]]])),
      );
      const result = omit(item, ['type', 'id', 'origin', 'vendor']);
      return [this.call(item, named, JSON.stringify(input)), this.resultElsewhere(named, result)];
    }
    switch (item.type) {
      case 'mcp_call': {
        const named = dynamicTool(id, `mcp.${String(item.name)}`);
        const result = omit(item, ['type', 'id', 'origin', 'vendor', 'arguments', 'name']);
        return [this.call(item, named, argumentsText(item)), this.resultElsewhere(named, result, item.error)];
      }
      case 'mcp_approval_request':
        return [
          this.call(item, dynamicTool(id, `mcp.${String(item.name)}`), argumentsText(item)),
          { type: 'tool-approval-request', approvalId: id, toolCallId: id },
        ];
      default:
        return undefined;
    }
  }

  private vendorItem(item: VendorItem): OtherContent[] | undefined {
    switch (item.origin.wire) {
      case 'anthropic_messages':
        return this.anthropicBlock(item, item.item);
      case 'gemini':
        return this.geminiPart(item, item.item);
      default:
        return undefined;
    }
  }

  private anthropicBlock(item: VendorItem, block: JsonObject): OtherContent[] | undefined {
    const { type, id, name, tool_use_id, content } = block;
    if (typeof type !== 'string') return undefined;
    if (typeof id === 'string' && typeof name === 'string') {
      const named =
        type === 'server_tool_use'
          ? this.name(id, TOOL_OF_ANTHROPIC_NAME[name] ?? name, name)
          : type === 'mcp_tool_use'
            ? dynamicTool(id, `mcp.${name}`)
            : undefined;
      if (named === undefined) return undefined;
      this.calls.set(id, named);
      return [this.call(item, named, JSON.stringify(block.input ?? {}))];
    }
    if (!type.endsWith('_tool_result') || typeof tool_use_id !== 'string') return undefined;
    const named = this.calls.get(tool_use_id);
    // After a paused turn, the call is in the response before. The AI SDK accepts results next to their calls only.
    if (named === undefined) return undefined;
    const isError = block.is_error === true || String(fieldsOf(content).type).endsWith('_error');
    return [this.result(item, named, content, isError)];
  }

  /** https://ai.google.dev/api/caching#ExecutableCode */
  private geminiPart(item: VendorItem, part: JsonObject): OtherContent[] | undefined {
    if (isObject(part.executableCode)) {
      const id = item.id ?? `code_${this.calls.size}`;
      this.lastCall = this.name(id, 'code_interpreter', 'code_execution');
      this.calls.set(id, this.lastCall);
      return [this.call(item, this.lastCall, JSON.stringify(part.executableCode))];
    }
    if (!isObject(part.codeExecutionResult) || this.lastCall === undefined) return undefined;
    return [
      this.result(item, this.lastCall, part.codeExecutionResult, part.codeExecutionResult.outcome !== 'OUTCOME_OK'),
    ];
  }

  /** Tools that the application did not name are dynamic, so that the AI SDK accepts their calls. */
  private name(toolCallId: string, tool: string, fallback = tool): Named {
    const toolName = this.namesOfBuiltIns.get(tool);
    return toolName === undefined ? dynamicTool(toolCallId, fallback) : { toolCallId, toolName };
  }

  private call(item: OutputItem, named: Named, input: string): LanguageModelV4ToolCall {
    return {
      type: 'tool-call',
      ...named,
      input,
      providerExecuted: true,
      providerMetadata: toMetadata({ item: omit(item, []) }),
    };
  }

  private result(item: OutputItem, named: Named, content: unknown, isError: boolean): LanguageModelV4ToolResult {
    return {
      type: 'tool-result',
      ...named,
      result: jsonResult(content),
      ...(isError ? { isError } : {}),
      providerMetadata: toMetadata({ item: omit(item, []) }),
    };
  }

  private resultElsewhere(named: Named, content: JsonObject, error?: unknown): LanguageModelV4ToolResult {
    return {
      type: 'tool-result',
      ...named,
      result: jsonResult(content),
      ...(error === undefined || error === null ? {} : { isError: true }),
      providerMetadata: toMetadata({ isElsewhere: true }),
    };
  }
}

function dynamicTool(toolCallId: string, toolName: string): Named {
  return { toolCallId, toolName, dynamic: true };
}

function argumentsText(item: HostedItem): string {
  return typeof item.arguments === 'string' ? item.arguments : JSON.stringify(item.arguments ?? {});
}

/** The content is parsed JSON. */
function jsonResult(content: unknown): LanguageModelV4ToolResult['result'] {
  return (content ?? {}) as LanguageModelV4ToolResult['result'];
}

/** The vendor, and its name for the item: `google.thoughtSignature`, `openai.mcp_list_tools`. */
function kindOf(item: OutputItem): `${string}.${string}` {
  const origin = 'origin' in item ? item.origin : undefined;
  const vendor = origin?.vendor ?? 'bolide';
  if (item.type !== 'vendor_item') return `${vendor}.${item.type}`;
  const type = typeof item.item.type === 'string' ? item.item.type : Object.keys(item.item)[0];
  return `${vendor}.${type ?? item.type}`;
}
