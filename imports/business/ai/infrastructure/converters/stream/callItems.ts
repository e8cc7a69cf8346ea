/** Which items are calls that a client answers, and their arguments as they leave. */
import type { FunctionCallItem, HostedItem, OutputItem } from '../../../domain/types/ResponsesAPITypes';

export type CallItem = FunctionCallItem | (HostedItem & { readonly type: 'custom_tool_call' });

export function isCallItem(item: OutputItem): item is CallItem {
  return item.type === 'function_call' || item.type === 'custom_tool_call';
}

/** A model that has nothing to say writes nothing, and clients parse what they get. */
export function argumentsOrEmpty(call: Pick<FunctionCallItem, 'arguments'>): string {
  return call.arguments.trim() === '' ? '{}' : call.arguments;
}
