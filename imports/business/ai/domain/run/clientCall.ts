/** Finds calls that the client of a vendor's API must answer. A run answers calls of functions only. */
import { UnsupportedFeatureError } from '../errors/LLMErrors';
import { fieldsOf, isObject } from '../util/json';
import type { LLMResponse } from '../types/ResponsesAPITypes';
import type { JsonObject } from '../types/VendorTypes';

/** The tools by the type of their calls. A custom tool has a name of its own. */
const TOOLS: ReadonlyMap<unknown, string | undefined> = new Map([
  ['apply_patch_call', 'apply_patch'],
  ['computer_call', 'computer_use'],
  ['custom_tool_call', undefined],
  ['local_shell_call', 'local_shell'],
  ['shell_call', 'shell'],
  ['tool_search_call', 'tool_search'],
]);
const APPROVAL: unknown = 'mcp_approval_request';
/**
 * The `call_id` of xAI's own searches of X and of the web, which it reports as calls of custom tools. Those that a
 * client must execute begin with `call`. https://docs.x.ai/developers/tools/overview
 */
const XAI_SEARCH = /^(?:xs|ws|web_search)_call/;

/** The error for the first call that waits for a client, or `undefined`. */
export function clientCallError(response: LLMResponse): UnsupportedFeatureError | undefined {
  const items = response.output.map(fieldsOf);
  if (!items.some(isClientCall)) return undefined;
  const answered = new Set(items.flatMap(({ type, call_id }) => (isOutput(type) ? [call_id] : [])));
  const waiting = items.find((item) => isClientCall(item) && !answered.has(item.call_id));
  return waiting === undefined
    ? undefined
    : new UnsupportedFeatureError(explain(waiting), { vendor: response.vendor.name, response });
}

function isClientCall(item: JsonObject): boolean {
  return item.type === APPROVAL || (TOOLS.has(item.type) && !isExecutedByVendor(item));
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
      return typeof call_id === 'string' && XAI_SEARCH.test(call_id);
    default:
      return false;
  }
}

function explain({ type, name, server_label }: JsonObject): string {
  if (type === APPROVAL)
    return (
      `The vendor waits for an approval of the tool "${String(name)}" of the MCP server "${String(server_label)}" ` +
      `(${String(type)}), which a run cannot give. Answer it through the Responses API of the gateway, or set ` +
      '"require_approval" of the server to "never".'
    );
  const tool = TOOLS.get(type) ?? String(name);
  return (
    `The model called the tool "${tool}" (${String(type)}), which the client must execute; a run executes functions ` +
    `only. Answer the call through the Responses API of the gateway, or remove the tool "${tool}" from the run.`
  );
}
