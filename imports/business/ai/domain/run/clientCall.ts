/** Finds calls that the client of a vendor's API must answer, and that the run has no function for. */
import { isFunctionTool } from '../entities/Tool';
import type { Tool } from '../entities/Tool';
import { UnsupportedFeatureError } from '../errors/LLMErrors';
import { fieldsOf, isObject } from '../util/json';
import type { LLMResponse } from '../types/ResponsesAPITypes';
import type { JsonObject } from '../types/VendorTypes';

/** The tools by the type of their calls, each with the function that executes it. A custom tool has its own name. */
const TOOLS: ReadonlyMap<unknown, { readonly name?: string; readonly executor?: string }> = new Map([
  ['apply_patch_call', { name: 'apply_patch', executor: 'applyPatchTool' }],
  ['computer_call', { name: 'computer_use', executor: 'computerTool' }],
  ['custom_tool_call', { executor: 'customTool' }],
  ['local_shell_call', { name: 'local_shell', executor: 'shellTool' }],
  ['shell_call', { name: 'shell', executor: 'shellTool' }],
  ['tool_search_call', { name: 'tool_search', executor: 'clientToolSearch' }],
]);
const APPROVAL: unknown = 'mcp_approval_request';
/**
 * The `call_id` of xAI's own searches of X and of the web, which it reports as calls of custom tools. Those that a
 * client must execute begin with `call`. https://docs.x.ai/developers/tools/overview
 */
const XAI_SEARCH = /^(?:xs|ws|web_search)_call/;

/** Anthropic's names of tools that the client executes, each with the function that does. */
const ANTHROPIC_TOOLS: ReadonlyMap<string, string> = new Map([
  ['bash', 'shellTool'],
  ['browser', 'browserTool'],
  ['computer', 'computerTool'],
  ['memory', 'memoryTool'],
  ['str_replace_based_edit_tool', 'textEditorTool'],
  ['str_replace_editor', 'textEditorTool'],
]);

/** Names by which Anthropic's models call those of the tools that the client executes and that are no functions. */
export function anthropicClientTools(tools: readonly Tool[]): readonly string[] {
  return tools.flatMap((tool) => {
    if (isFunctionTool(tool)) return [];
    if (tool.type === 'computer_use') return ['computer'];
    const { name, type } = fieldsOf(tool.vendor?.anthropic);
    const toolset = /^(?<family>browser|computer)_toolset_/.exec(String(type))?.groups?.family;
    const called = toolset ?? name;
    return typeof called === 'string' && ANTHROPIC_TOOLS.has(called) ? [called] : [];
  });
}

/**
 * The error for the first call that waits for a client, or `undefined`.
 * @param clientTools names of Anthropic's tools that the run offers and cannot execute
 */
export function clientCallError(
  response: LLMResponse,
  clientTools: readonly string[],
): UnsupportedFeatureError | undefined {
  const items = response.output.map(fieldsOf);
  const isWaiting = (item: JsonObject): boolean => isClientCall(item) || clientTools.includes(calledTool(item));
  if (!items.some(isWaiting)) return undefined;
  const answered = new Set(items.flatMap(({ type, call_id }) => (isOutput(type) ? [call_id] : [])));
  const waiting = items.find((item) => isWaiting(item) && !answered.has(item.call_id));
  return waiting === undefined
    ? undefined
    : new UnsupportedFeatureError(explain(waiting), { vendor: response.vendor.name, response });
}

function isClientCall(item: JsonObject): boolean {
  return item.type === APPROVAL || (TOOLS.has(item.type) && !isExecutedByVendor(item));
}

/** The toolset or the tool that a function's call names. */
function calledTool({ type, name, vendor }: JsonObject): string {
  if (type !== 'function_call') return '';
  const { toolset_name: toolset = name } = fieldsOf(fieldsOf(vendor).anthropic);
  return String(toolset);
}

/** Whether the custom tool's call of this `call_id` is a search that xAI made itself, which has no output. */
export function isSearchOfXai(callId: unknown): boolean {
  return typeof callId === 'string' && XAI_SEARCH.test(callId);
}

function isOutput(type: unknown): boolean {
  return typeof type === 'string' && type.endsWith('_output');
}

/**
 * Whether the vendor needs no answer. `status: 'completed'` does not say so: OpenAI sets it once the model has written
 * the call. https://developers.openai.com/api/docs/guides/tools-shell
 */
function isExecutedByVendor({ type, execution, environment, call_id }: JsonObject): boolean {
  switch (type) {
    case 'tool_search_call':
      return execution !== 'client';
    case 'shell_call':
      return isObject(environment) && environment.type !== 'local';
    case 'custom_tool_call':
      return isSearchOfXai(call_id);
    default:
      return false;
  }
}

function explain(item: JsonObject): string {
  const { type, name, server_label } = item;
  if (type === APPROVAL)
    return (
      `The vendor waits for an approval of the tool "${String(name)}" of the MCP server "${String(server_label)}" ` +
      `(${String(type)}), which this run did not ask for. Answer it through the Responses API of the gateway, or set ` +
      '"require_approval" of the server to "never".'
    );
  const anthropic = calledTool(item);
  const tool = TOOLS.get(type)?.name ?? (anthropic === '' ? String(name) : anthropic);
  const executor = TOOLS.get(type)?.executor ?? ANTHROPIC_TOOLS.get(anthropic);
  return (
    `The model called the tool "${tool}" (${String(type)}), which the client must execute, and the run has no ` +
    `function for it. Offer it with "${String(executor)}", answer the call through the Responses API of the gateway, ` +
    `or remove the tool "${tool}" from the run.`
  );
}
