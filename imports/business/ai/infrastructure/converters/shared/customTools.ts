/**
 * Custom tools, whose input is free text, for APIs that have functions only: each is offered as a function with one
 * text argument, and its calls become calls of the custom tool again.
 * https://platform.openai.com/docs/guides/function-calling#custom-tools
 */
import { customFunction } from '../../../domain/entities/customFunction';
import { isSearchOfXai } from '../../../domain/run/clientCall';
import { fieldsOf } from '../../../domain/util/json';
import type { NormalizedOptions, ToolChoice } from '../../../domain/types/LLMTypes';
import type { FunctionCallItem, InputItem, OutputItem } from '../../../domain/types/ResponsesAPITypes';
import { hasItem } from './hasItem';
import { restoreItems } from './RewrittenTools';
import type { RewrittenTools } from './RewrittenTools';

/** @returns undefined if there is neither a custom tool nor a call of one */
export function offerCustomToolsAsFunctions(options: NormalizedOptions): RewrittenTools | undefined {
  const { tools = [], input, tool_choice: choice } = options;
  const names = new Set(tools.flatMap((tool) => (isCustom(tool) ? [String(tool.name)] : [])));
  if (names.size === 0 && !hasItem(input, CALL) && !hasItem(input, OUTPUT)) return undefined;
  const isCallOfCustom = (item: OutputItem): item is FunctionCallItem =>
    item.type === 'function_call' && names.has(item.name);
  const restoreItem = (item: OutputItem): OutputItem => (isCallOfCustom(item) ? toCustomCall(item) : item);
  return {
    options: {
      ...options,
      input: input.map(toFunctionItem),
      ...(names.size === 0
        ? {}
        : { tools: tools.map((tool) => (isCustom(tool) ? customFunction(fieldsOf(tool)) : tool)) }),
      ...(typeof choice === 'object' ? { tool_choice: chooseFunction(choice) } : {}),
    },
    restoreResponse: (response) => restoreItems(response, restoreItem),
    restoreEvent(event) {
      switch (event.type) {
        case 'response.output_item.added':
        case 'response.output_item.done':
          return [{ ...event, item: restoreItem(event.item) }];
        case 'response.tool_use.announced':
        case 'response.tool_use.delta':
          return names.has(event.name) ? [] : [event];
        case 'response.tool_use.done':
          return isCallOfCustom(event.item) ? [] : [event];
        case 'response.completed':
          return [{ ...event, response: restoreItems(event.response, restoreItem) }];
        default:
          return [event];
      }
    },
  };
}

const CUSTOM: string = 'custom';
const CALL: string = 'custom_tool_call';
const OUTPUT: string = 'custom_tool_call_output';

function isCustom(tool: { readonly type: string }): boolean {
  return tool.type === CUSTOM;
}

function toFunctionItem(item: InputItem): InputItem {
  if (item.type !== CALL && item.type !== OUTPUT) return item;
  const { input, ...fields } = fieldsOf(item);
  if (isSearchOfXai(fields.call_id)) return item;
  const rewritten =
    item.type === CALL
      ? { ...fields, type: 'function_call', arguments: JSON.stringify({ input }) }
      : { ...fields, type: 'function_call_output' };
  // The cast is safe: both kinds of items have the same fields otherwise.
  return rewritten as unknown as InputItem;
}

function toCustomCall(call: FunctionCallItem): OutputItem {
  const { arguments: args, ...fields } = call;
  return { ...fields, type: 'custom_tool_call', input: inputOf(args) };
}

/** Models that ignore the schema write the input itself. */
function inputOf(args: string): string {
  try {
    const { input } = fieldsOf(JSON.parse(args));
    return typeof input === 'string' ? input : args;
  } catch {
    return args;
  }
}

function chooseFunction(choice: Exclude<ToolChoice, string>): ToolChoice {
  const toNamed = <C extends { readonly type: string }>(each: C): C =>
    isCustom(each) ? { ...each, type: 'function' } : each;
  if (choice.type === 'allowed_tools' && 'tools' in choice) return { ...choice, tools: choice.tools.map(toNamed) };
  // The cast is safe: a choice of a custom tool has the fields of a choice of a function.
  return toNamed(choice as { readonly type: string }) as ToolChoice;
}
