/** Recognizes the items that are calls for the client to run, and writes their arguments. */
import { isSearchOfXai } from '../../../domain/run/clientCall';
import type { FunctionCallItem, HostedItem, OutputItem } from '../../../domain/types/ResponsesAPITypes';

export type CallItem = FunctionCallItem | (HostedItem & { readonly type: 'custom_tool_call' });

export function isCallItem(item: OutputItem): item is CallItem {
  return item.type === 'function_call' || (item.type === 'custom_tool_call' && !isSearchOfXai(item.call_id));
}

/** A model that passes no arguments may write none at all, but clients parse what they receive as JSON. */
export function argumentsOrEmpty(call: Pick<FunctionCallItem, 'arguments'>): string {
  return call.arguments.trim() === '' ? '{}' : call.arguments;
}
