/**
 * One function through which all found tools are called, for APIs that can be told of no tools in mid-conversation: the
 * results of searches have the definitions.
 */
import type { FunctionTool, Tool } from '../../../domain/entities/Tool';
import type { NormalizedOptions } from '../../../domain/types/LLMTypes';
import type { FunctionCallItem, InputItem, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import type { FindableTools } from '../../../domain/types/ToolSearch';
import { fieldsOf, isObject } from '../../../domain/util/json';
import { omitUndefined } from '../../../domain/util/omitUndefined';
import { RestoredCalls } from './restoredCalls';
import { restoreItems } from './RewrittenTools';
import type { RewrittenTools } from './RewrittenTools';
import { foundIn, SearchCalls, writtenOnce } from './searchResults';

const NAMES = ['call_tool', 'call_found_tool', 'call_searched_tool'] as const;

export function bridgeOf(
  options: NormalizedOptions,
  listed: readonly Tool[],
  findable: FindableTools,
  names: ReadonlyMap<string, FunctionTool>,
): RewrittenTools {
  const isTaken = (name: string): boolean => names.has(name) || listed.some((tool) => tool.name === name);
  const bridge = bridgeTool(NAMES.find((name) => !isTaken(name)) ?? NAMES[0], findable.searchTool);
  const isCall = (item: OutputItem): item is FunctionCallItem =>
    item.type === 'function_call' && item.name === bridge.name;
  const restored = (item: OutputItem): OutputItem => (isCall(item) ? calledTool(item) : item);
  const calls = new RestoredCalls((item) => (isCall(item) ? calledTool(item) : undefined));
  return {
    options: { ...options, tools: [...listed, bridge], input: write(options.input, bridge, findable, names) },
    restoreResponse: (response) => restoreItems(response, restored),
    restoreEvent: (event) => calls.inEvent(event),
  };
}

/** By its name and the search's: a tool that is offered again with every request is converted once. */
const bridges = new Map<string, FunctionTool>();

function bridgeTool(name: string, searchTool: string): FunctionTool {
  const key = `${name} ${searchTool}`;
  const known = bridges.get(key);
  if (known !== undefined) return known;
  const tool: FunctionTool = {
    type: 'function',
    name,
    description: `Calls a tool that "${searchTool}" has found, with arguments that its "parameters" describe.`,
    parameters: {
      type: 'object',
      properties: {
        name: { type: 'string', description: `The name of the tool, as "${searchTool}" returned it.` },
        // An object without properties is refused by some vendors, and left empty by the models of others.
        arguments: { type: 'string', description: 'The arguments of the tool: the JSON text of an object.' },
      },
      required: ['name', 'arguments'],
      additionalProperties: false,
    },
  };
  bridges.set(key, tool);
  return tool;
}

function write(
  input: readonly InputItem[],
  bridge: FunctionTool,
  findable: FindableTools,
  names: ReadonlyMap<string, FunctionTool>,
): readonly InputItem[] {
  const searches = new SearchCalls(findable);
  return input.map((item) => {
    if (item.type === 'function_call') {
      if (searches.note(item)) return item;
      const tool = names.get(item.name);
      return tool === undefined ? item : writtenOnce(item, bridge, [tool], () => bridgedCall(item, bridge));
    }
    if (item.type !== 'function_call_output') return item;
    if (searches.isResult(item)) {
      const found = foundIn(item, names);
      if (found.length === 0) return item;
      return writtenOnce(item, bridge, found, () => ({ ...item, output: JSON.stringify({ tools: found.map(shown) }) }));
    }
    const tool = names.get(item.name ?? '');
    return tool === undefined ? item : writtenOnce(item, bridge, [tool], () => ({ ...item, name: bridge.name }));
  });
}

function bridgedCall(call: FunctionCallItem, { name }: FunctionTool): FunctionCallItem {
  return { ...call, name, arguments: JSON.stringify({ name: call.name, arguments: call.arguments }) };
}

function shown({ name, description, parameters }: FunctionTool): object {
  return omitUndefined({ name, description, parameters });
}

/** A call that names no tool stays as it is, and fails like any call of an unknown tool. */
function calledTool(call: FunctionCallItem): FunctionCallItem {
  let fields: Readonly<Record<string, unknown>>;
  try {
    fields = fieldsOf(JSON.parse(call.arguments));
  } catch {
    return call;
  }
  const { name, arguments: args = {} } = fields;
  if (typeof name !== 'string' || name === '') return call;
  const text = typeof args === 'string' ? args : JSON.stringify(isObject(args) ? args : {});
  return { ...call, name, arguments: text };
}
